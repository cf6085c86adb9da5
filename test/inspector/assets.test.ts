import { expect, it } from 'vitest';
import { readAssets } from '../../src/inspector/http-server.ts';

it('a page that is not beside its code is an error that says what to do', async () => {
  const folder = new URL('file:///nowhere/page/');
  await expect(readAssets(folder)).rejects.toThrow(
    "the inspector's page is not in file:///nowhere/page/: keep headgate/inspector out of your bundle",
  );
});
