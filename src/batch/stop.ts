import { QuotaExhaustedError, RetryAfterTooLongError } from 'headgate';
import { classify } from 'headgate/advanced';
import { StatusError } from './http/errors.ts';

/**
 * Why a run has ended before its input did.
 *
 * - `interrupted`: it was asked to;
 * - `budget`: the next request might have cost more than is left;
 * - `refused`: an answer that every other request would meet too: key, account, quota, model;
 * - `unreachable`, `outage`: the server did not answer, from the start or for too long;
 * - `input`: a line cannot be sent;
 * - `output`: results cannot be written.
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
  /** What has happened and what to do, for people. */
  readonly message: string;
}

/** What all requests would meet while nothing has gone well: a wrong path, model or permission. */
const SETUP_STATUSES = [401, 403, 404, 405];

/**
 * Whether an error of one request would meet every other one too, so that the run had better end.
 * @param anySucceeded a 403 or a 404 may concern one request where others go well
 */
export function stopFor(error: unknown, anySucceeded: boolean): Stop | undefined {
  if (error instanceof RetryAfterTooLongError) {
    const until = new Date(Date.now() + error.retryAfterMs).toLocaleTimeString('en-GB');
    return {
      reason: 'refused',
      message: `the provider lets nothing in before ${until}: run the same command again then`,
    };
  }
  if (error instanceof QuotaExhaustedError) return refused(error.message);
  if (!(error instanceof StatusError)) return undefined;
  const { outage, kind } = classify(error);
  const said = `the server answered ${error.status}: ${error.message.replace(/\.$/, '')}`;
  if (error.status === 401) return refused(`${said}. Check the key`);
  if (error.status === 429 && kind === 'fatal') return refused(`${said}. Nothing more can be sent`);
  if (error.status === 402 || outage === 'billing' || outage === 'quota') {
    return refused(`${said}. Check the account's billing`);
  }
  if (anySucceeded || !SETUP_STATUSES.includes(error.status)) return undefined;
  if (error.status === 404) return refused(`${said}. Check --model and --base-url`);
  return refused(said);
}

function refused(message: string): Stop {
  return { reason: 'refused', message };
}
