import { writeFileSync } from 'node:fs';
import { pagesIn } from './pages.ts';
import { render } from './render.ts';
import { sourcesOf } from './sources.ts';

/** Brings the copies in all pages up to date; run from the root of the repository. */
const sources = sourcesOf('.');

for (const { path, text } of pagesIn('.')) {
  const rendered = render(text, sources);
  if (rendered === text) continue;
  writeFileSync(path, rendered);
  console.log(path);
}
