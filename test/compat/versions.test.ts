import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { metrics } from '@opentelemetry/api';
import { defaultResource } from '@opentelemetry/resources';
import { expect, inject, it } from 'vitest';
import { startSdk } from '../telemetry/sdk.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const { devDependencies: wanted } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'));

function versionIn(folder: string, name: string): unknown {
  const manifest = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
  return JSON.parse(manifest).version;
}

it('tests run in the Node, and with the API and SDK, of this folder', async () => {
  expect(process.version).toBe(`v${wanted.node}`);
  const sdk = startSdk();
  const registered = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'));
  expect(Reflect.get(registered, 'version')).toBe(wanted['@opentelemetry/api']);
  const { attributes } = defaultResource();
  expect(attributes['telemetry.sdk.version']).toBe(wanted['@opentelemetry/resources']);
  expect(metrics.getMeter('test').constructor.name).toBe('Meter');
  await sdk.stop();
});

it('so do the programs that tests start', () => {
  const folder = inject('packageFolder');
  for (const name of [
    '@opentelemetry/api',
    '@opentelemetry/sdk-node',
    '@opentelemetry/sdk-trace',
  ]) {
    expect(versionIn(folder, name)).toBe(wanted[name]);
  }
});
