import { setTimeout } from 'node:timers/promises';
import { byteEstimate, type Limiter, type Outcome, RetryAfterTooLongError, Sized } from 'headgate';
import { classify } from 'headgate/advanced';
import { from, map } from 'rxjs';
import { ApiError, ConnectionError } from './client.ts';
import type { Prompt } from './prompts.ts';
import { NotSentError, type Sender } from './sender.ts';

/** How long a stopped run waits for calls in flight. */
const DRAIN_MS = 5_000;

const KEY_STATUSES = [401, 402];
const SETUP_STATUSES = [403, 404];
const UNREACHABLE = ['ECONNREFUSED', 'ENOTFOUND'];

/**
 * Whether an error of one request would affect all others too, so that the run should end: the key,
 * the account or its quota is refused, no server listens at the address, or the provider names a
 * wait that is longer than headgate's bound. A 403, a 404 or a broken connection may concern one
 * request, so they end the run only if no request has succeeded yet.
 */
export function concernsAll(error: unknown, anySucceeded: boolean): boolean {
  if (error instanceof RetryAfterTooLongError) return true;
  if (error instanceof ConnectionError)
    return !anySucceeded || UNREACHABLE.includes(error.code ?? '');
  if (!(error instanceof ApiError)) return false;
  if (KEY_STATUSES.includes(error.status)) return true;
  if (SETUP_STATUSES.includes(error.status)) return !anySucceeded;
  return error.status === 429 && classify(error).kind === 'fatal';
}

/**
 * Sends all prompts through the limiter, which has no other users. When `stop` fires, nothing more
 * is sent, and calls in flight have 5 s to finish. Requests that were not sent have no outcome.
 *
 * @param onOutcome must not throw
 * @returns when no more outcomes will come
 */
export function sendAll(
  prompts: readonly Prompt[],
  limiter: Limiter,
  sender: Sender,
  onOutcome: (outcome: Outcome<Prompt, string>) => void,
  stop: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const sending = from(prompts)
      .pipe(
        byteEstimate(undefined, { name: 'batch' }),
        map(withAnswer),
        limiter.throttle(sender.send, { outcomes: true }),
      )
      .subscribe({
        next: (outcome) => {
          const sent = outcome.status === 'ok' || !(outcome.error instanceof NotSentError);
          if (sent) onOutcome(outcome);
        },
        error: reject,
      });
    // All prompts have been read: only their outcomes are left.
    void limiter.drain().then(resolve);
    const leave = async () => {
      await Promise.race([sender.stop(), setTimeout(DRAIN_MS, undefined, { ref: false })]);
      sending.unsubscribe();
    };
    if (stop.aborted) void leave();
    else stop.addEventListener('abort', () => void leave(), { once: true });
  });
}

/**
 * Adds the tokens that the answer may have: providers charge these until they have answered. A
 * limit that charged less would admit requests that the provider rejects.
 */
function withAnswer({ value, bytes, tokens }: Sized<Prompt>): Sized<Prompt> {
  return new Sized(value, bytes, tokens + (value.maxTokens ?? 0));
}
