/** An option of a command, for parsing, --help and the documentation. */
export interface CommandOption {
  /** Without the dashes. */
  readonly name: string;
  /** The name of its value; undefined: it is a flag. */
  readonly value?: string;
  /** Whether it may be given several times. */
  readonly isRepeatable?: boolean;
  readonly short?: string;
  readonly default?: string;
  readonly help: string;
}

export interface OptionGroup {
  readonly title: string;
  readonly options: readonly CommandOption[];
}

/** Options for the API and its key. */
const API_OPTIONS: readonly CommandOption[] = [
  {
    name: 'api',
    value: 'NAME',
    default: 'chat',
    help: 'the API for lines without a url: chat, responses, embeddings, or anthropic',
  },
  {
    name: 'base-url',
    value: 'URL',
    default: "the provider's",
    help: 'an OpenAI-compatible server, with the query it needs; also OPENAI_BASE_URL or ANTHROPIC_BASE_URL',
  },
  {
    name: 'header',
    value: 'NAME:VALUE',
    isRepeatable: true,
    help: 'a header of each request; may be given several times',
  },
  {
    name: 'proxy',
    value: 'URL',
    default: 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY',
    help: 'an HTTP proxy',
  },
];

/** Options for limits and retries. */
const LIMIT_OPTIONS: readonly CommandOption[] = [
  {
    name: 'concurrency',
    value: 'N',
    default: '256',
    help: 'most requests in flight',
  },
  { name: 'rpm', value: 'N', default: 'learned', help: 'most requests a minute' },
  { name: 'tpm', value: 'N', default: 'learned', help: 'most tokens a minute' },
  {
    name: 'config',
    value: 'FILE',
    help: "JSON: the options of headgate's limiter; HEADGATE_* variables set them too",
  },
  {
    name: 'limits',
    value: 'FILE',
    help: 'JSON by model: {"MODEL": {"requestsPerMinute": 500}}, the options of --config; "*" for all others',
  },
  {
    name: 'timeout',
    value: 'TIME',
    default: '10m',
    help: 'longest duration of one call, including its answer, such as 90s; a number alone is seconds; at most 24d',
  },
  {
    name: 'max-attempts',
    value: 'N',
    default: 'no bound for 429, 503 and 529, else 3',
    help: 'most calls for one request',
  },
  {
    name: 'deadline',
    value: 'TIME',
    default: 'none',
    help: 'how long a request may take, its waits and attempts together',
  },
  {
    name: 'outage',
    value: 'TIME',
    default: '30m',
    help: 'how long requests wait for a server that is down',
  },
];

const QUEUE_OPTION: CommandOption = {
  name: 'queue',
  value: 'NAME',
  default: 'headgate',
  help: 'the name of the queue in that Redis',
};

const INSPECT_OPTION: CommandOption = {
  name: 'inspect',
  help: 'serve a page that shows where requests wait, and print its address',
};

/** Every option of `headgate run`. */
export const RUN_OPTIONS: readonly OptionGroup[] = [
  {
    title: 'Input and output',
    options: [
      { name: 'out', short: 'o', value: 'FILE', help: 'the file of results; required' },
      {
        name: 'text',
        help: 'each line of the input is a prompt, not JSON',
      },
      {
        name: 'template',
        value: 'TEXT',
        default: '{{prompt}}',
        help: 'the prompt for .csv and .tsv files, with {{column}} in it',
      },
      {
        name: 'append',
        help: 'add to results of another input',
      },
      { name: 'overwrite', help: 'replace the file of results' },
      {
        name: 'changed',
        value: 'WHAT',
        default: 'fail',
        help: 'lines that have changed since they were answered: fail, rerun, or keep their results',
      },
      { name: 'retry-failed', help: 'send lines again that failed in an earlier run' },
      { name: 'limit', value: 'N', help: 'send the first N lines only' },
      {
        name: 'dry-run',
        help: 'check every line and forecast tokens, cost and time; send nothing',
      },
    ],
  },
  {
    title: 'API',
    options: [
      { name: 'model', short: 'm', value: 'NAME', help: 'the model of lines that name none' },
      {
        name: 'group',
        value: 'N',
        default: '128',
        help: 'embeddings: most lines that are sent as one request; each has its own result',
      },
      ...API_OPTIONS,
    ],
  },
  {
    title: 'Limits',
    options: LIMIT_OPTIONS,
  },
  {
    title: 'Workers',
    options: [
      {
        name: 'redis',
        value: 'URL',
        help: 'let workers send the requests: headgate work with the same --redis, on any number of machines; they keep --concurrency, --rpm and --tpm together',
      },
      QUEUE_OPTION,
    ],
  },
  {
    title: 'Money',
    options: [
      {
        name: 'cache',
        value: 'DIR',
        help: 'answer what was answered before, in any run, from a store in DIR; needs the package lmdb',
      },
      { name: 'price-in', value: 'AMOUNT', help: 'price of a million input tokens' },
      {
        name: 'price-cached',
        value: 'AMOUNT',
        default: '--price-in',
        help: 'price of a million input tokens from a cache',
      },
      {
        name: 'price-out',
        value: 'AMOUNT',
        help: 'price of a million output tokens; may be left out with --api embeddings',
      },
      {
        name: 'prices',
        value: 'FILE',
        help: 'JSON by model: {"MODEL": {"in": 0.25, "cached": 0.025, "out": 2}}; "*" for all others',
      },
      {
        name: 'max-cost',
        value: 'AMOUNT',
        help: 'stop before the results in the file cost more than this',
      },
    ],
  },
  {
    title: 'Display',
    options: [
      { name: 'quiet', short: 'q', help: 'show no progress, only the report' },
      INSPECT_OPTION,
      { name: 'hold', help: 'keep the page of --inspect open after the run, until Ctrl-C' },
      { name: 'json', help: 'progress and report as lines of JSON on standard output' },
    ],
  },
];

/** Every option of `headgate work`. */
export const WORK_OPTIONS: readonly OptionGroup[] = [
  {
    title: 'Work',
    options: [
      {
        name: 'redis',
        value: 'URL',
        help: 'the Redis that headgate run was given, such as redis://127.0.0.1:6379; required',
      },
      QUEUE_OPTION,
    ],
  },
  { title: 'API', options: API_OPTIONS },
  {
    title: 'Limits of all workers together, where headgate run gives none',
    options: LIMIT_OPTIONS.flatMap((option) => {
      if (option.name === 'outage') return [];
      return option.name === 'concurrency' ? [{ ...option, default: '1000' }] : [option];
    }),
  },
  {
    title: 'Display',
    options: [{ name: 'quiet', short: 'q', help: 'print only errors' }, INSPECT_OPTION],
  },
];

/** The options that `headgate run` passes to its workers. */
const FOR_WORKERS: readonly string[] = ['api', 'concurrency', 'rpm', 'tpm'];

/** The options that `headgate run --redis` does not take: its workers have them. */
export const OF_WORKERS: readonly string[] = [...API_OPTIONS, ...LIMIT_OPTIONS].flatMap(
  ({ name }) => (FOR_WORKERS.includes(name) ? [] : [name]),
);

/** The formats of `headgate export`. */
export const EXPORT_FORMATS = ['text', 'csv', 'jsonl-flat'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Exit codes, for --help and the documentation. */
export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'every request has a good result'],
  [1, 'some requests failed, or the run stopped before its end'],
  [2, 'the command or the input is wrong; nothing was sent'],
  [129, 'stopped by SIGHUP, as when a terminal is closed'],
  [130, 'stopped by Ctrl-C'],
  [143, 'stopped by SIGTERM'],
];
