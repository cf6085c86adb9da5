import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A request as the server saw it. Times in ms since 1970. */
interface Seen {
  readonly worker: string;
  readonly id: string;
  /** When the worker sent it, by the same machine's clock. */
  readonly sentAt: number;
  readonly arrivedAt: number;
}

/** A provider that counts: what arrives, from whom, and how many requests it has at once. */
export interface CountingServer {
  readonly port: number;
  readonly seen: readonly Seen[];
  /** Requests that it has now, and the most that it had at once. */
  readonly inFlight: number;
  readonly mostInFlight: number;
  /** Of which workers these were, and when. */
  readonly mostAre: string;
  /** Requests that stood still on their way, as their worker did: they count nowhere. */
  readonly heldUp: number;
  inFlightOf(worker: string): number;
  /** The most that was sent in any interval of a length. */
  mostInWindow(windowMs: number): number;
  /** Requests that came more than once. */
  readonly doubled: number;
  stop(): Promise<void>;
}

const now = () => performance.timeOrigin + performance.now();

/**
 * @param tookMs how long each request takes. @param heldUpMs what was on its way for so long was
 * held up
 */
export async function countingServer(tookMs: number, heldUpMs: number): Promise<CountingServer> {
  const seen: Seen[] = [];
  const inFlight = new Map<string, number>();
  let total = 0;
  let most = 0;
  let mostAre = '';
  let heldUp = 0;
  const server = createServer(async (request, response) => {
    const query = new URL(request.url ?? '/', 'http://server').searchParams;
    const [worker = '', id = '', at = ''] = ['worker', 'id', 'at'].map(
      (name) => query.get(name) ?? '',
    );
    const arrivedAt = now();
    seen.push({ worker, id, sentAt: Number(at), arrivedAt });
    if (arrivedAt - Number(at) > heldUpMs) heldUp += 1;
    else {
      total += 1;
      inFlight.set(worker, (inFlight.get(worker) ?? 0) + 1);
      if (total > most) {
        most = total;
        mostAre = `${JSON.stringify([...inFlight])} at ${Math.round(arrivedAt)}`;
      }
      response.once('close', () => {
        total -= 1;
        inFlight.set(worker, (inFlight.get(worker) ?? 0) - 1);
      });
    }
    await sleep(tookMs);
    response.end();
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    get inFlight() {
      return total;
    },
    get mostInFlight() {
      return most;
    },
    get mostAre() {
      return mostAre;
    },
    get heldUp() {
      return heldUp;
    },
    inFlightOf: (worker) => inFlight.get(worker) ?? 0,
    mostInWindow: (windowMs) => mostInWindow(seen, windowMs),
    get doubled() {
      return seen.length - new Set(seen.map(({ worker, id }) => `${worker} ${id}`)).size;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function mostInWindow(seen: readonly Seen[], windowMs: number): number {
  const times = seen.map(({ sentAt }) => sentAt).sort((a, b) => a - b);
  let most = 0;
  let first = 0;
  times.forEach((at, index) => {
    while (at - (times[first] as number) >= windowMs) first += 1;
    most = Math.max(most, index - first + 1);
  });
  return most;
}
