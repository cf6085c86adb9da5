import { API_NAMES } from '../endpoint.ts';
import { BatchError, messageOf } from '../errors.ts';
import { createHttpSender } from '../http/sender.ts';
import { printable, withoutQuery } from '../printable.ts';
import { startWork, type Work } from '../queue/queue-work.ts';
import { nameOf, targetOf } from './destination.ts';
import { startCommandInspector } from './inspect.ts';
import { readLimits, readModelLimits } from './limits.ts';
import { MAX_TIMEOUT_DAYS, readQueue, TIMEOUT_MS } from './run-options.ts';
import { onSignals } from './signals.ts';
import { startCommandTelemetry } from './telemetry.ts';
import type { OptionValues } from './values.ts';

const LOG_MS = 5_000;
/** How long requests in flight may take to end when the worker is stopped. */
const DRAIN_MS = 10_000;

/**
 * `headgate work`. It ends after a signal, or if another worker has a newer store protocol.
 * @returns the exit code
 */
export async function work(values: OptionValues): Promise<number> {
  const redis = values.text('redis');
  if (redis === undefined) {
    throw new BatchError('--redis URL is missing: that of headgate run, redis://127.0.0.1:6379');
  }
  const api = values.choice('api', API_NAMES) ?? 'chat';
  const timeoutMs = values.time('timeout', MAX_TIMEOUT_DAYS) ?? TIMEOUT_MS;
  const options = {
    redis,
    queue: readQueue(values),
    limits: readLimits(values, process.env),
    limitsByModel: readModelLimits(values),
    onError: logErrors(),
    onOthers: (sentence: string) => console.error(`headgate: ${sentence}`),
  };
  const target = targetOf(values, api, process.env);
  const stopTelemetry = await startCommandTelemetry(process.env);
  const stopInspector = await startCommandInspector(values.flag('inspect'), console.error);
  const sender = createHttpSender({ ...target, timeoutMs });
  try {
    const running = await startWork({ ...options, provider: nameOf(target), send: sender.send });
    const say = values.flag('quiet') ? () => {} : (line: string) => console.error(line);
    const address = withoutQuery(target.baseUrl);
    say(`takes requests from ${options.queue} at ${new URL(redis).host}, for ${address}`);
    const stopLog = logCounts(running, say);
    const code = await ended(running);
    stopLog();
    say(`stopped: ${countsOf(running)}`);
    return code;
  } finally {
    await sender.close();
    await stopInspector();
    await stopTelemetry();
  }
}

/**
 * Waits for a signal, and then for the jobs in flight; a second signal gives these jobs back.
 * @returns the exit code
 */
async function ended(running: Work): Promise<number> {
  let code = 0;
  let count = 0;
  let release = () => {};
  // Nothing else keeps the process alive while Redis cannot be reached.
  const alive = setInterval(() => {}, 60_000);
  try {
    await new Promise<void>((resolve, reject) => {
      const close = (drainMs: number) => void running.close(drainMs).then(resolve, reject);
      void running.refused.then(() => {
        code = 1;
        close(DRAIN_MS);
      });
      release = onSignals(() => {
        count += 1;
        close(count === 1 ? DRAIN_MS : 0);
      });
    });
  } finally {
    clearInterval(alive);
    release();
  }
  return code;
}

/** Prints a line every few seconds if a count has changed. */
function logCounts(running: Work, say: (line: string) => void): () => void {
  let last = '';
  const timer = setInterval(() => {
    const line = countsOf(running);
    if (line !== last) say(line);
    last = line;
  }, LOG_MS);
  return () => clearInterval(timer);
}

function countsOf(running: Work): string {
  const { completed, failed, waiting, inFlight, lost } = running.counts;
  const down = Math.round(running.downForMs() / 1_000);
  return [
    `${completed + failed} ended, ${inFlight} in flight, ${waiting} wait`,
    ...(lost > 0 ? [`${lost} lost to other workers`] : []),
    ...(down > 0 ? [`the server has not answered for ${down} s`] : []),
  ].join('; ');
}

/** Prints errors, but not the same message twice in a row: a lost store repeats its message. */
function logErrors(): (error: unknown) => void {
  let last = '';
  return (error) => {
    const message = messageOf(error);
    if (message !== last) console.error(`headgate: ${printable(message)}`);
    last = message;
  };
}
