import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** What an original answered to generated inputs: README.md says how it was recorded. */
export function recorded<Case>(name: string): readonly Case[] {
  const file = new URL(`fixtures/${name}.jsonl.gz`, import.meta.url);
  const lines = gunzipSync(readFileSync(file)).toString().split('\n');
  return lines.map((line): Case => JSON.parse(line));
}
