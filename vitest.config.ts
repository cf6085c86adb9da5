import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^headgate\/simulator$/, replacement: source('simulator/index.ts') },
      { find: /^headgate$/, replacement: source('index.ts') },
    ],
  },
  test: { include: ['test/**/*.test.ts'], globalSetup: ['test/support/build.ts'] },
});
