/** Simulated providers with the limits, headers and errors of known families, for `--finish`. */
import { complete, type Scenario, type ScenarioOptions } from './scenario.ts';

/** The number of prompts in a run. */
const PROMPTS_TO_FINISH = 2000;

const prompts = { inputTokens: 400, outputTokens: 150, sigma: 0.8 };

const options: readonly ScenarioOptions[] = [
  {
    name: 'openai',
    about: '600 requests a minute, enforced by the second; tokens are charged up front',
    backlog: PROMPTS_TO_FINISH,
    prompts,
    provider: {
      headers: 'openai',
      limits: [
        {
          unit: 'requests',
          algorithm: 'token-bucket',
          limit: 10,
          windowMs: 1000,
          advertised: { limit: 600, windowMs: 60_000 },
        },
        { unit: 'tokens', algorithm: 'token-bucket', limit: 400_000, windowMs: 60_000 },
      ],
    },
  },
  {
    name: 'anthropic',
    about: 'buckets of requests, of tokens put in, and of tokens put out as they are produced',
    backlog: PROMPTS_TO_FINISH,
    prompts,
    provider: {
      headers: 'anthropic',
      limits: [
        {
          unit: 'requests',
          algorithm: 'token-bucket',
          limit: 600,
          windowMs: 60_000,
          burst: 50,
        },
        {
          unit: 'input-tokens',
          algorithm: 'token-bucket',
          limit: 300_000,
          windowMs: 60_000,
          burst: 50_000,
        },
        {
          unit: 'output-tokens',
          algorithm: 'token-bucket',
          limit: 120_000,
          windowMs: 60_000,
          burst: 20_000,
          charge: 'actual',
        },
      ],
    },
  },
  {
    name: 'tinker',
    about: 'a server of 32 units, and a 429 without any headers above 64 requests',
    backlog: PROMPTS_TO_FINISH,
    prompts,
    provider: {
      headers: 'none',
      concurrency: { units: 32, queue: 32, status: 429 },
    },
  },
];

export const families: readonly Scenario[] = options.map(complete);
