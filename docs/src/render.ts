/**
 * Updates the parts of a page that are copies, so that they need not be kept up to date by hand:
 *
 * - the code block after `<!-- example: NAME -->` is the file NAME of `docs/examples`;
 * - the text between `<!-- generated: NAME -->` and `<!-- /generated -->` is a table from the code.
 */
export interface Sources {
  /** @throws if there is no such file */
  readonly example: (name: string) => string;
  /** @throws if there is no such table */
  readonly table: (name: string) => string;
}

const EXAMPLE = /(<!-- example: (\S+) -->\n)```\w+\n[\s\S]*?```/g;
const GENERATED = /(<!-- generated: (\S+) -->\n)[\s\S]*?(<!-- \/generated -->)/g;

/** The page with all its copies brought up to date. */
export function render(text: string, { example, table }: Sources): string {
  return text
    .replaceAll(EXAMPLE, (_all, marker: string, name: string) => {
      const language = name.endsWith('.mjs') ? 'js' : 'ts';
      return `${marker}\`\`\`${language}\n${example(name)}\`\`\``;
    })
    .replaceAll(
      GENERATED,
      (_all, marker: string, name: string, end: string) => `${marker}\n${table(name)}\n\n${end}`,
    );
}

/** The names of the examples that a page shows, in their order. */
export function examplesOf(text: string): readonly string[] {
  return [...text.matchAll(EXAMPLE)].map(([, , name = '']) => name);
}
