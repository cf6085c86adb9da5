import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { LimiterOptions } from 'headgate';

/** A wrong command line: exit code 2. */
export class UsageError extends Error {}

export interface Options {
  readonly prompts: string;
  /** The address of the API, ending in `/v1`; undefined: the simulated provider. */
  readonly baseUrl: string | undefined;
  readonly model: string;
  /** The most prompts to send. */
  readonly limit: number;
  readonly json: boolean;
  /** Whether the metrics page stays open after the run. */
  readonly hold: boolean;
  readonly seed: number;
  readonly out: string | undefined;
  /** A JSON file with limits. */
  readonly config: string | undefined;
  /** The limits given by flags. */
  readonly limits: Pick<
    LimiterOptions,
    'concurrency' | 'requestsPerMinute' | 'tokensPerMinute' | 'adaptive'
  >;
  readonly help: boolean;
}

const OPTIONS = {
  prompts: { type: 'string', value: 'FILE', help: 'JSONL: {"id", "prompt" or "messages", ...}' },
  'base-url': { type: 'string', value: 'URL', help: 'an OpenAI-compatible server instead' },
  model: { type: 'string', value: 'NAME', help: 'which model to ask (gpt-4o-mini)' },
  limit: { type: 'string', value: 'N', help: 'send the first N prompts only' },
  concurrency: { type: 'string', value: 'N', help: 'most requests in flight (64)' },
  rpm: { type: 'string', value: 'N', help: 'most requests a minute (no limit)' },
  tpm: { type: 'string', value: 'N', help: 'most tokens a minute (no limit)' },
  adaptive: { type: 'string', value: 'WHAT', help: 'rate, latency, failures, or off (rate)' },
  config: { type: 'string', value: 'FILE', help: "JSON: the options of headgate's limiter" },
  seed: { type: 'string', value: 'N', help: 'of everything that happens by chance (1)' },
  out: { type: 'string', value: 'FILE', help: 'write results as JSONL; replaces the file' },
  json: { type: 'boolean', value: '', help: 'print the report as one JSON object' },
  hold: { type: 'boolean', value: '', help: 'keep the page of metrics open until Ctrl-C' },
  help: { type: 'boolean', short: 'h', value: '', help: 'print this' },
} as const;

type Strategy = 'rate' | 'latency' | 'failures';
const ADAPTIVE: Readonly<Record<string, Strategy | false>> = {
  rate: 'rate',
  latency: 'latency',
  failures: 'failures',
  off: false,
};

export const HELP = `Sends a file of prompts to a rate-limited model API, paced by headgate, and reports where the
requests waited. Without --base-url it starts a simulated provider on this machine.

usage: npm run start:watched -- [options]

${Object.entries(OPTIONS)
  .map(([name, { value, help }]) => `  ${`--${name} ${value}`.padEnd(17)} ${help}`)
  .join('\n')}

A limit that no flag sets is taken from --config; one that is not there, from the environment:
HEADGATE_CONCURRENCY, HEADGATE_REQUESTS_PER_MINUTE, HEADGATE_TOKENS_PER_MINUTE,
HEADGATE_ADAPTIVE=false, HEADGATE_CIRCUIT_BREAKER=true, HEADGATE_PACE_INTERVAL_MS, and so on: the
path of the option in upper case. A minute of the simulated provider lasts 3 seconds, for --rpm,
--tpm and --adaptive failures too; it takes 36 requests in it.

--adaptive rate adapts the rate to the provider's headers and 429s; latency adapts the requests in
flight to slower answers, failures adapts them to failures. With off, a 429 stops all requests for a
time.

The key of the server is read from OPENAI_API_KEY. The report goes to standard output, all else
to standard error; \`npm run --silent start:watched\` keeps npm from writing there too.

Metrics are at http://127.0.0.1:9464/metrics while it runs, and with --hold at all addresses of this
machine, for a Prometheus in a container. Traces and metrics are sent to
OTEL_EXPORTER_OTLP_ENDPOINT; the other OTEL_* variables (OTEL_EXPORTER_PROMETHEUS_HOST,
OTEL_EXPORTER_PROMETHEUS_PORT, OTEL_SDK_DISABLED=true ...) have their usual meaning.

An error that every request would meet (a refused key, a used-up quota, no server at the address)
ends the run early; any other error fails its own request. After Ctrl-C nothing more is sent, and
the report comes when all requests in flight have ended, after 5 s at the latest. A second Ctrl-C
ends the run at once.

exit code: 0 all succeeded; 1 some failed, or a file could not be read or written; 2 wrong options,
variables or --config; 130 Ctrl-C; 143 SIGTERM
`;

/**
 * @param defaultPrompts the file to read without `--prompts`
 * @throws UsageError that names the option, the bound and the value
 */
export function readOptions(args: readonly string[], defaultPrompts: string): Options {
  const values = parse(args);
  const prompts = values.prompts ?? defaultPrompts;
  const { out } = values;
  if (out === '') throw new UsageError('`--out` must be a file name, got ""');
  if (out !== undefined && resolve(out) === resolve(prompts)) {
    throw new UsageError(`\`--out\` must differ from the prompts, got ${out}`);
  }
  if (values.config === '') throw new UsageError('`--config` must be a file name, got ""');
  if (values.model === '') throw new UsageError('`--model` must be a name, got ""');
  return {
    prompts,
    baseUrl: values['base-url'] === undefined ? undefined : readBaseUrl(values['base-url']),
    model: values.model ?? 'gpt-4o-mini',
    limit: readInteger('limit', values.limit, 1) ?? Number.POSITIVE_INFINITY,
    json: values.json ?? false,
    hold: values.hold ?? false,
    seed: readInteger('seed', values.seed, 0) ?? 1,
    out,
    config: values.config,
    limits: {
      concurrency: readInteger('concurrency', values.concurrency, 1),
      requestsPerMinute: readInteger('rpm', values.rpm, 1),
      tokensPerMinute: readInteger('tpm', values.tpm, 1),
      adaptive: readAdaptive(values.adaptive),
    },
    help: values.help ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: joined(args), options: OPTIONS }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Keep the first sentence with the reason; the rest is advice on positional arguments.
    throw new UsageError(error.message.split(/\. |\.?\n/)[0], { cause: error });
  }
}

/** Reads `--limit -3` as a wrong number, not as a missing number and an option. */
function joined(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1);
    if (/^-\d/.test(arg) && before !== undefined && /^--[a-z-]+$/.test(before)) {
      joined[joined.length - 1] = `${before}=${arg}`;
    } else joined.push(arg);
  }
  return joined;
}

function readInteger(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
    throw new UsageError(
      `\`--${name}\` must be digits, a number from ${least} to 2^53 - 1, got ${text || '""'}`,
    );
  }
  return value;
}

function readAdaptive(text: string | undefined): Strategy | false | undefined {
  if (text === undefined) return undefined;
  const chosen = Object.hasOwn(ADAPTIVE, text) ? ADAPTIVE[text] : undefined;
  if (chosen !== undefined) return chosen;
  const choices = Object.keys(ADAPTIVE).join(', ');
  throw new UsageError(`\`--adaptive\` must be one of ${choices}, got ${text || '""'}`);
}

function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search + url.hash !== '') {
    throw new UsageError(
      `\`--base-url\` must be an http or https URL without a query, got ${text || '""'}`,
    );
  }
  if (url.username + url.password !== '') {
    throw new UsageError('`--base-url` must be without user and password; set OPENAI_API_KEY');
  }
  const base = url.href.replace(/\/+$/, '');
  return base.endsWith('/v1') ? base : `${base}/v1`;
}
