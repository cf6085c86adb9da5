/** Retries like those of model providers' SDKs. */
const RETRIES = 10;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

/** A wait is shortened at random, by up to this share. */
const JITTER = 0.25;

/** The longest `retry-after` that is followed. */
const LONGEST_ASKED_MS = 60_000;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Sends a request until it succeeds, fails with an error that must not be retried, or was retried
 * ten times.
 *
 * @param attempt sends the request once
 */
export async function withRetries(attempt: () => Promise<Response>): Promise<void> {
  for (let retry = 0; retry <= RETRIES; retry++) {
    const response = await attempt().catch(() => undefined);
    if (response !== undefined && !isWorthRetry(response.status)) return;
    await response?.arrayBuffer();
    if (retry < RETRIES) await sleep(askedMs(response) ?? backoffMs(retry));
  }
}

function isWorthRetry(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function askedMs(response: Response | undefined): number | undefined {
  const seconds = Number.parseFloat(response?.headers.get('retry-after') ?? '');
  const ms = seconds * 1000;
  return ms >= 0 && ms < LONGEST_ASKED_MS ? ms : undefined;
}

function backoffMs(retry: number): number {
  const ms = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** retry);
  return ms * (1 - JITTER * Math.random());
}
