import { startDemo } from './demo.ts';
import type { Options } from './options.ts';
import type { Target } from './target.ts';

/** Opens the server of `--base-url`, or else starts the simulated provider. */
export async function openTarget({ baseUrl, seed }: Options): Promise<Target> {
  if (baseUrl === undefined) return startDemo(seed);
  return {
    baseUrl,
    apiKey: process.env.OPENAI_API_KEY?.trim() || undefined,
    about: undefined,
    limitsOf: (chosen) => chosen,
    capacity: () => undefined,
    close: async () => {},
  };
}
