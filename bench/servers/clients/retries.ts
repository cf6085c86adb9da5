/** Retries as SDKs of model providers do them. */
const RETRIES = 10;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

/** A wait is shortened by up to this part of it, by chance. */
const JITTER = 0.25;

/** A server that asks for more is not believed. */
const LONGEST_ASKED_MS = 60_000;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Sends a request until it succeeds, is refused for good, or was sent again ten times.
 *
 * @param attempt sends it once
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
