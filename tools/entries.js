/**
 * Entries of the package: the name of each in `dist`, and its source. `package.json` exports them.
 */
export const entries = {
  index: 'src/index.ts',
  advanced: 'src/advanced.ts',
  bullmq: 'src/bullmq/index.ts',
  'ai/index': 'src/ai/index.ts',
  'inspector/index': 'src/inspector/index.ts',
  'redis/index': 'src/redis/index.ts',
  simulator: 'src/simulator/index.ts',
  telemetry: 'src/telemetry/node.ts',
};

/** The command's entry: its code is bundled by `rolldown.config.js`, its types here. */
export const command = {
  'batch/index': 'src/batch/index.ts',
};
