import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An export of a file of `src`. */
export interface Declaration {
  readonly name: string;
  readonly kind: string;
  /** The first sentence of its docblock; empty where it has none. */
  readonly summary: string;
  /** The class that it extends, if it is one and does. */
  readonly base: string | undefined;
  /** The `code` of an error. */
  readonly code: string | undefined;
  /** What a class shows, but for its `code`; empty for everything else. */
  readonly fields: readonly Field[];
}

/** A public field of a class. */
export interface Field {
  readonly name: string;
  readonly type: string;
  /** The first sentence of its docblock; empty where it has none. */
  readonly summary: string;
}

const DECLARATION =
  /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export (?:abstract |async )?(class|function|const|interface|type) (\w+|\{ [\w, ]+ \})(?:[^\n{]* extends (\w+))?/g;
const CODE = /^\n {2}readonly code = '(\w+)'/;
const FIELD = /(?: {2}\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)? {2}readonly (\w+): ([^;]+);/g;

/** What the files of a folder declare and export, by name; the first docblock of a name counts. */
export function declarationsIn(folder: string): ReadonlyMap<string, Declaration> {
  const found = new Map<string, Declaration>();
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    for (const declaration of declarationsOf(readFileSync(join(folder, file), 'utf8'))) {
      if (!found.get(declaration.name)?.summary) found.set(declaration.name, declaration);
    }
  }
  return found;
}

function declarationsOf(text: string): Declaration[] {
  return [...text.matchAll(DECLARATION)].flatMap((match) => {
    const [all, docblock = '', kind = '', names = '', base] = match;
    const body = text.slice(match.index + all.length);
    const code = CODE.exec(body.slice(body.indexOf('{') + 1))?.[1];
    const summary = firstSentence(docblock);
    const fields = kind === 'class' ? fieldsOf(body.slice(0, body.indexOf('\n}'))) : [];
    // `export const { a, b } = …` declares several.
    return [...names.matchAll(/\w+/g)].map(([name]) => {
      return { name, kind, summary, base, code, fields };
    });
  });
}

function fieldsOf(body: string): readonly Field[] {
  return [...body.matchAll(FIELD)].map(([, docblock = '', name = '', type = '']) => {
    return { name, type, summary: firstSentence(docblock) };
  });
}

/** The text of a docblock up to the first full stop that ends a sentence. */
export function firstSentence(docblock: string): string {
  const text = docblock
    .replaceAll(/^\s*\* ?/gm, '')
    .replaceAll(/\{@link (\w+)\}/g, '$1')
    .replaceAll(/ \(seed: \d+\)/g, '')
    .split(/\n\s*\n|\n@/)[0]
    ?.replaceAll(/\s+/g, ' ')
    .trim();
  if (text === undefined || /^[-@]/.test(text)) return '';
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
}

/** What a file exports again from others. */
export interface Entry {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

/** The names that an entry point of the package exports, in the order of the alphabet. */
export function entryOf(path: string): Entry {
  const text = readFileSync(path, 'utf8');
  const values = new Set<string>();
  const types = new Set<string>();
  for (const [, isType, names = ''] of text.matchAll(/export (type )?\{([^}]*)\} from/g)) {
    for (const name of names.split(',').map((one) => one.trim())) {
      if (name === '') continue;
      if (isType !== undefined || name.startsWith('type ')) types.add(name.replace(/^type /, ''));
      else values.add(name);
    }
  }
  for (const [, kind, name = ''] of text.matchAll(
    /export (?:async )?(function|const|class|interface|type) (\w+)/g,
  )) {
    if (kind === 'interface' || kind === 'type') types.add(name);
    else values.add(name);
  }
  const sorted = (names: Iterable<string>) =>
    [...names].sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase(), 'en'));
  return { values: sorted(values), types: sorted(types) };
}
