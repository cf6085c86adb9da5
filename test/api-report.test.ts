import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

it('the public surface is that of the reports in etc/', () => {
  const script = join(ROOT, 'tools/api-report.js');
  const dist = join(inject('packageFolder'), 'dist');
  const { status, stderr } = spawnSync(process.execPath, [script, dist], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
});
