/**
 * The telemetry tests with the packages of this folder in place of those that headgate is developed
 * with: `npm run test:compat`, which installs them, and runs this in the Node that is among them.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

const HERE = fileURLToPath(new URL('package.json', import.meta.url));

const { projects: _, ...common } = base.test ?? {};

export default defineConfig({
  resolve: base.resolve ?? {},
  plugins: [
    {
      name: 'newer-packages',
      enforce: 'pre',
      resolveId(wanted) {
        if (!wanted.startsWith('@opentelemetry/')) return null;
        return this.resolve(wanted, HERE, { skipSelf: true });
      },
    },
  ],
  test: {
    ...common,
    include: [
      'test/compat/*.test.ts',
      'test/{,behaviour/}telemetry/**/*.test.ts',
      'test/dashboards/queries.test.ts',
      'test/examples/otlp.test.ts',
      'test/examples/watch.test.ts',
    ],
    globalSetup: ['test/compat/build.ts'],
    setupFiles: ['test/support/setup.ts'],
  },
});
