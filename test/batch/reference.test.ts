import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { commandReference } from '../../docs/src/command-reference.ts';

const FILE = fileURLToPath(new URL('../../docs/reference/command.md', import.meta.url));

it('the documentation of the command is made from its options: vitest -u writes it', async () => {
  await expect(commandReference()).toMatchFileSnapshot(FILE);
});
