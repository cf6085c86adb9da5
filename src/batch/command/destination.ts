import { hash } from 'node:crypto';
import type { ApiName } from '../endpoint.ts';
import { BatchError } from '../errors.ts';
import { proxyUrl } from '../http/proxy.ts';
import { createHttpSender, isHttp } from '../http/sender.ts';
import { shownUrl, withoutQuery } from '../printable.ts';
import { createQueueSender } from '../queue/queue-sender.ts';
import type { ReusedAnswers } from '../queue/remote-jobs.ts';
import type { RunQueue } from '../queue/run-queue.ts';
import type { Send } from '../request.ts';
import { checkHeaderValue, KEY_HEADERS, readHeader } from './headers.ts';
import type { RunOptions } from './run-options.ts';
import type { OptionValues } from './values.ts';

/** The API to which requests are sent, with its key and headers. */
export interface Target {
  /** Of the API, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly proxy: string | undefined;
}

const PROVIDERS = {
  openai: {
    url: 'https://api.openai.com/v1',
    urlVariable: 'OPENAI_BASE_URL',
    keyVariable: 'OPENAI_API_KEY',
  },
  anthropic: {
    url: 'https://api.anthropic.com/v1',
    urlVariable: 'ANTHROPIC_BASE_URL',
    keyVariable: 'ANTHROPIC_API_KEY',
  },
} as const;

/** @throws BatchError for a wrong url or header, or a missing key of a provider */
export function targetOf(values: OptionValues, api: ApiName, env: NodeJS.ProcessEnv): Target {
  const provider = PROVIDERS[api === 'anthropic' ? 'anthropic' : 'openai'];
  const option = values.text('base-url');
  const given = option ?? (env[provider.urlVariable]?.trim() || undefined);
  const source = option === undefined ? provider.urlVariable : '--base-url';
  const apiKey = env[provider.keyVariable]?.trim() || undefined;
  if (apiKey !== undefined) checkHeaderValue(provider.keyVariable, apiKey);
  const headers = Object.fromEntries(values.texts('header').map(readHeader));
  const hasKey =
    apiKey !== undefined || Object.keys(headers).some((name) => KEY_HEADERS.test(name));
  if (given === undefined && !hasKey) {
    throw new BatchError(
      `${provider.keyVariable} is not set: set it to your key for ${new URL(provider.url).host}, ` +
        'or name another server with --base-url',
    );
  }
  const proxy = values.text('proxy');
  return {
    baseUrl: given === undefined ? provider.url : readBaseUrl(source, given),
    apiKey,
    headers,
    proxy: proxy === undefined ? undefined : proxyUrl('--proxy', proxy, /^https?:/i),
  };
}

/** A name for a server and its key that reveals neither. */
export function nameOf({ baseUrl, apiKey, headers }: Target): string {
  const sorted = Object.entries(headers).sort(([one], [other]) => (one < other ? -1 : 1));
  return hash('sha256', JSON.stringify([baseUrl, apiKey, sorted])).slice(0, 32);
}

/**
 * The URL with the path of the API, by default `/v1`. A query is sent with each request.
 * @param source the option or variable, for errors
 */
function readBaseUrl(source: string, text: string): string {
  if (!isHttp(text)) {
    throw new BatchError(`${source} must be an http or https URL, got ${shownUrl(text)}`);
  }
  const url = new URL(text);
  if (url.username + url.password !== '') {
    throw new BatchError(`${source} must be without user and password; set a key or a --header`);
  }
  const base = `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  return (url.pathname === '/' ? `${base}/v1` : base) + url.search;
}

/** Where requests are sent: to an API, or to the workers of a queue. */
export interface Destination {
  /** The name that the screen shows. */
  readonly title: string;
  /** The name for learned rates and for cached answers. */
  readonly provider: string;
  readonly send: Send;
  /** The queue of the workers; undefined: this process sends the requests. */
  readonly queue?: RunQueue;
  close(): Promise<void>;
}

/** @throws BatchError if it cannot be reached, or its options are wrong */
export async function openDestination(
  values: OptionValues,
  { batch, api, timeoutMs, workers }: RunOptions,
  env: NodeJS.ProcessEnv,
): Promise<Destination> {
  if (workers !== undefined) {
    const { redis, queue, limits } = workers;
    const sender = await createQueueSender(redis, queue, limits, reusedAnswers(batch));
    const { host } = new URL(redis);
    return { title: `workers at ${host}`, provider: `workers ${host} ${queue}`, ...sender };
  }
  const target = targetOf(values, api, env);
  const { send, close } = createHttpSender({ ...target, timeoutMs });
  const { host, search } = new URL(target.baseUrl);
  // This name is saved, and a query may have a key in it.
  const query = search === '' ? '' : `?${hash('sha256', search).slice(0, 16)}`;
  return { title: host, provider: withoutQuery(target.baseUrl) + query, send, close };
}

/** A run that replaces the results sends all requests, one that retries the failed ones these. */
export function reusedAnswers({ existing, retryFailed }: RunOptions['batch']): ReusedAnswers {
  if (existing === 'overwrite') return 'none';
  return retryFailed ? 'good' : 'all';
}
