import { QuotaExhaustedError, RetryAfterTooLongError } from 'headgate';
import { classify } from 'headgate/advanced';
import { NoAnswerError } from './http/answer.ts';
import { ConnectionError, StatusError } from './http/failures.ts';
import { PROXY_REFUSED } from './http/proxy.ts';
import { at } from './json.ts';
import type { PaceView } from './pace-view.ts';
import { QueueError, WorkerError } from './queue/queue-job.ts';
import type { QueueCounts } from './queue/run-queue.ts';
import type { ErrorCount } from './tally.ts';

/**
 * Why a run has ended before its input did.
 *
 * - `interrupted`: the user stopped it;
 * - `budget`: the next request might have cost more than is left;
 * - `refused`: an error that every other request would get too: key, account, quota, model;
 * - `unreachable`, `outage`: the server did not answer, from the start or for too long;
 * - `input`: a line cannot be sent;
 * - `output`: results cannot be written, or the cache of answers has failed.
 */
export type StopReason =
  | 'interrupted'
  | 'budget'
  | 'refused'
  | 'unreachable'
  | 'outage'
  | 'input'
  | 'output';

export interface Stop {
  readonly reason: StopReason;
  /** What has happened and what to do, as text for the user. */
  readonly message: string;
}

/** Before any success, these mean a wrong path, model or permission for all requests. */
const SETUP_STATUSES = [403, 404, 405];

/** A refused certificate, or a server without TLS: all requests would fail in this way. */
const TLS_CODES =
  /CERT|^UNABLE_TO_(GET|VERIFY|DECODE)|^ERR_TLS_|^ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)/;

/** The errors with which a worker fails all requests, not one. */
const REFUSALS: Readonly<Record<string, Stop['reason']>> = {
  QUOTA_EXHAUSTED: 'refused',
  RETRY_AFTER_TOO_LONG: 'refused',
  PROVIDER_UNREACHABLE: 'unreachable',
};

/** The stop for an error that every other request would get too; undefined: others may succeed. */
export function stopFor(error: unknown): Stop | undefined {
  if (error instanceof RetryAfterTooLongError) {
    const until = new Date(Date.now() + error.retryAfterMs).toLocaleTimeString('en-GB');
    return {
      reason: 'refused',
      message: `the provider lets nothing in before ${until}: run the same command again then`,
    };
  }
  if (error instanceof QueueError) return refused(error.message);
  if (error instanceof QuotaExhaustedError) return refused(error.message);
  if (error instanceof WorkerError && error.name in REFUSALS) {
    return { reason: REFUSALS[error.name] ?? 'refused', message: error.message };
  }
  if (error instanceof ConnectionError || error instanceof WorkerError) {
    return connectionStopFor(error);
  }
  if (!(error instanceof StatusError)) return undefined;
  const { outage, kind } = classify(error);
  const said = saidBy(error);
  // A 403 may concern only its request. Google answers 400 to a wrong key.
  if (outage === 'authorisation' && error.status !== 403) return refused(`${said}. Check the key`);
  if (error.status === 429 && kind === 'fatal') return refused(`${said}. Nothing more can be sent`);
  if (error.status === 402 || outage === 'billing' || outage === 'quota') {
    return refused(`${said}. Check the account's billing`);
  }
  return undefined;
}

/** The same before any success; after one, the error may concern only its request. */
export function setupStopFor(error: unknown): Stop | undefined {
  if (error instanceof NoAnswerError) return refused(error.message);
  if (!(error instanceof StatusError)) return undefined;
  const said = saidBy(error);
  if (error.status < 400) return refused(`${said}. Check --base-url`);
  if (!SETUP_STATUSES.includes(error.status)) return undefined;
  if (error.status === 404) return refused(`${said}. Check --model and --base-url`);
  return refused(said);
}

function saidBy({ status, message }: StatusError): string {
  return `the server answered ${status}: ${message.replace(/\.$/, '')}`;
}

function connectionStopFor(error: ConnectionError | WorkerError): Stop | undefined {
  const code = error instanceof ConnectionError ? error.code : error.name;
  if (code === PROXY_REFUSED) {
    return refused(`${error.message}. Check --proxy, or HTTPS_PROXY and HTTP_PROXY`);
  }
  if (!TLS_CODES.test(code)) return undefined;
  const advice =
    'Check --base-url; NODE_EXTRA_CA_CERTS names the certificates of your own authority';
  return { reason: 'unreachable', message: `${error.message}. ${advice}` };
}

function refused(message: string): Stop {
  return { reason: 'refused', message };
}

/**
 * - `starting`: the output and the input are being read;
 * - `running`; `draining`: no more requests are sent, and those in flight end; `ended`.
 */
export type BatchPhase = 'starting' | 'running' | 'draining' | 'ended';

/** The state of a run at one moment. */
export interface BatchProgress {
  readonly phase: BatchPhase;
  readonly elapsedMs: number;
  /** Lines that were checked while starting. */
  readonly checked: number;
  /** Requests of the input; undefined while that is not known. */
  readonly total: number | undefined;
  /** Requests with a good result from earlier runs, and failed ones that are not sent again. */
  readonly doneBefore: number;
  readonly failedBefore: number;
  readonly ok: number;
  /** The number of `ok` results that came from the cache. */
  readonly cached: number;
  readonly failed: number;
  readonly inFlight: number;
  readonly waiting: number;
  /** The requests in the queue of workers; undefined: this process sends the requests. */
  readonly workers: QueueCounts | undefined;
  /** Calls to the API. Those of workers are known when their answers have come. */
  readonly attempts: number;
  /** Answers with status 429. */
  readonly rejected: number;
  /** Calls for requests that had been sent before. */
  readonly retried: number;
  readonly ratePerSecond: number | undefined;
  readonly etaMs: number | undefined;
  readonly pace: PaceView | undefined;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Costs in the currency of the prices. Undefined: there are no prices. */
  readonly cost:
    | {
        readonly spent: number;
        /** The expected cost of all requests; undefined: too few have ended. */
        readonly forecast: number | undefined;
        /** Undefined: no bound. */
        readonly max: number | undefined;
      }
    | undefined;
  readonly errors: readonly ErrorCount[];
  /** How long the server has been down, in ms; 0: it is not. */
  readonly downForMs: number;
  /** How long the run waits for a server that is down, in ms. */
  readonly outageMs: number;
  readonly stop: Stop | undefined;
}

/** The result of a run. */
export interface BatchReport extends BatchProgress {
  readonly output: string;
  /** Requests that have no result. */
  readonly left: number | undefined;
  /** Bytes of an incomplete line, left by a crash, that were removed. */
  readonly tornBytes: number;
}

/** @param lost results that could not be written: their requests count as left */
export function reportOf(
  progress: BatchProgress,
  output: string,
  tornBytes: number,
  lost: readonly string[],
): BatchReport {
  const { total, doneBefore, failedBefore } = progress;
  const lostOk = lost.filter((line) => at(JSON.parse(line), 'error') === null).length;
  const ok = progress.ok - lostOk;
  const failed = progress.failed - (lost.length - lostOk);
  const left = total === undefined ? undefined : total - doneBefore - failedBefore - ok - failed;
  return { ...progress, ok, failed, output, left, tornBytes };
}
