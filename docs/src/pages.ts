import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files outside `docs/` that are pages too. */
const AT_THE_ROOT = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
const BESIDE_CODE = ['dashboards/README.md', 'bench/README.md', 'bench/goodput/README.md'];

/** One Markdown file. */
export interface Page {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Every page of the documentation. */
export function pagesIn(root: string): readonly Page[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((file) => `docs/${file.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.md'))
    .sort();
  return [...AT_THE_ROOT, ...BESIDE_CODE, ...docs]
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}
