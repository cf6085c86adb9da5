import { createHttpSender } from '../http/sender.ts';
import { createQueueSender } from '../queue/queue-sender.ts';
import type { Send } from '../request.ts';
import type { RunOptions } from './run-options.ts';
import { targetOf } from './target.ts';
import type { OptionValues } from './values.ts';

/** What requests are sent through: an API, or the workers of a queue. */
export interface Destination {
  /** What the screen calls it. */
  readonly title: string;
  /** Names it, for what was learned of it and for cached answers. */
  readonly provider: string;
  readonly send: Send;
  close(): Promise<void>;
}

/** @throws BatchError where it is not there, or its options are wrong */
export async function openDestination(
  values: OptionValues,
  { api, timeoutMs, workers }: RunOptions,
  env: NodeJS.ProcessEnv,
): Promise<Destination> {
  if (workers !== undefined) {
    const { redis, queue, limits } = workers;
    const { send, close } = await createQueueSender(redis, queue, limits);
    const { host } = new URL(redis);
    return { title: `workers at ${host}`, provider: `workers ${host} ${queue}`, send, close };
  }
  const target = targetOf(values, api, env);
  const { send, close } = createHttpSender({ ...target, timeoutMs });
  return { title: new URL(target.baseUrl).host, provider: target.baseUrl, send, close };
}
