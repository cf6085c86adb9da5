import { warn } from './warn.ts';

/** Node's `fetch` publishes each request in this diagnostics channel. Other runtimes do not. */
export const REQUESTS_OF_FETCH = 'undici:request:create';

/** The SDKs of OpenAI, Anthropic and others count in this header how often they sent it before. */
const SENT_AGAIN = /\bx-stainless-retry-count\W+[1-9]/i;

/** The servers that this process has warned of. */
const warned = new Set<unknown>();

/**
 * A subscriber of the channel. Warns, once for each server, if an SDK sends a request again by
 * itself: headgate is not told of the answers before.
 */
export function warnOfSdkRetries(message: unknown): void {
  if (typeof message !== 'object' || message === null || !('request' in message)) return;
  const { origin, headers } = message.request as { origin?: unknown; headers?: unknown };
  if (warned.has(origin) || !SENT_AGAIN.test(String(headers))) return;
  warned.add(origin);
  warn(
    `headgate: an SDK has sent a request to ${origin} again by itself. If its calls go through headgate, set its maxRetries to 0: headgate does not see the answers that the SDK retries`,
  );
}
