import { expect, it } from 'vitest';
import { render } from '../../docs/src/render.ts';
import { firstSentence } from '../../docs/src/source.ts';

it('the first sentence of a docblock ends at a full stop, not within a name', () => {
  expect(firstSentence('* Sends `a.b` with {@link Trust}\n * to 1.5 hosts. Then more.\n')).toBe(
    'Sends `a.b` with Trust to 1.5 hosts.',
  );
  expect(firstSentence('*\n * Has no end\n * @param a b\n')).toBe('Has no end');
  expect(firstSentence('* - `a`: a list\n')).toBe('');
});

it('pages are filled from their sources, and stay as they are when filled again', () => {
  const sources = {
    example: (name: string) => `// ${name}\n`,
    table: (name: string) => `| ${name} |`,
  };
  const text =
    'a\n<!-- example: x.ts -->\n```ts\nold\n```\n<!-- generated: t -->\nold\n<!-- /generated -->\nb';
  const filled = render(text, sources);
  expect(filled).toBe(
    'a\n<!-- example: x.ts -->\n```ts\n// x.ts\n```\n' +
      '<!-- generated: t -->\n\n| t |\n\n<!-- /generated -->\nb',
  );
  expect(render(filled, sources)).toBe(filled);
});
