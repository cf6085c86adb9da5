import { setMaxListeners } from 'node:events';
import { createServer, type Server } from 'node:http';
import { checkMethods } from '../../util/check.ts';
import type { Provider } from '../provider-types.ts';
import { Exchange } from './exchange.ts';
import { FutureStore } from './futures.ts';
import { Router } from './router.ts';
import { readServeOptions, type ServeOptions, type ServeSettings } from './serve-options.ts';

/** The number of requests that a server keeps in `requests`. */
const KEPT_REQUESTS = 1000;

/** One request that a server has received. */
export interface ReceivedRequest {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Undefined until an answer is sent, also if the connection broke before. */
  readonly status: number | undefined;
  /** Whether the client left, or the server closed, before the answer was complete. */
  readonly aborted: boolean;
  /** The time of arrival, in milliseconds on the provider's clock. */
  readonly receivedMs: number;
}

/** A provider that listens on loopback. */
export interface ProviderServer {
  /** Such as `http://127.0.0.1:40123`, with no slash at the end. */
  readonly url: string;
  readonly port: number;
  /** The last 1000 requests, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** Breaks all open connections, ends their work, and frees the port. May be called again. */
  close(): Promise<void>;
}

/**
 * Serves a provider over HTTP on 127.0.0.1, until `close()`:
 *
 * - OpenAI: `POST /v1/chat/completions`, whole or streamed, and `GET /v1/models`. The completions
 *   also under any other prefix, as Azure and Google have them;
 * - Anthropic: `POST /v1/messages`, whole or streamed;
 * - Google: `POST /v1beta/models/MODEL:generateContent`, whole or streamed;
 * - Amazon Bedrock: `POST /model/MODEL/converse`, whole;
 * - Tinker: `POST /api/v1/asample` and `POST /api/v1/retrieve_future`.
 *
 * Each API has its own headers and errors. Latencies pass on the provider's clock. The text of an
 * answer depends only on the provider's seed and the prompt. When a client leaves, its request
 * ends: its unit is free again and `provider.stats().aborted` counts it.
 *
 * ```ts
 * const server = await serve(createProvider({ latency: { meanMs: 200 } }));
 * await fetch(`${server.url}/v1/models`);
 * await server.close();
 * ```
 *
 * @throws RangeError or TypeError for wrong options; the error of `listen` when the port is taken
 */
export async function serve(
  provider: Provider,
  options: ServeOptions = {},
): Promise<ProviderServer> {
  checkMethods('provider', provider, ['submit', 'stats']);
  const server = new LoopbackServer(provider, readServeOptions(options));
  await server.listen();
  return server;
}

class LoopbackServer implements ProviderServer {
  readonly #server: Server;
  readonly #settings: ServeSettings;
  readonly #router: Router;
  readonly #futures: FutureStore;
  readonly #closing = new AbortController();
  readonly #open = new Set<Exchange>();
  readonly #requests: Exchange[] = [];
  #count = 0;
  #closed: Promise<void> | undefined;

  constructor(provider: Provider, settings: ServeSettings) {
    this.#settings = settings;
    this.#futures = new FutureStore(provider.clock, settings.futureTtlMs);
    // Each sampling request in flight adds a listener.
    setMaxListeners(0, this.#closing.signal);
    const { models, output, wallNow, pollMs } = settings;
    let completions = 0;
    const nextFault = () => settings.faults(completions++);
    const { signal: closed } = this.#closing;
    const context = { provider, models, output, wallNow, nextFault, closed };
    this.#router = new Router(context, this.#futures, pollMs);
    this.#server = createServer((request, response) => {
      response.setHeader('date', new Date(wallNow()).toUTCString());
      const exchange = new Exchange(request, response, this.#nextId(), provider.clock.now());
      this.#receive(exchange, response);
    });
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : this.#settings.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get requests(): readonly ReceivedRequest[] {
    return this.#requests.map(({ id, method, path, status, signal, receivedMs }) => ({
      id,
      method,
      path,
      status,
      aborted: signal.aborted,
      receivedMs,
    }));
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#settings.port, '127.0.0.1', () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#closing.abort(new Error('the server closed'));
      for (const exchange of this.#open) exchange.abort('the server closed');
      this.#futures.clear();
      this.#server.closeAllConnections();
    });
    return this.#closed;
  }

  #receive(exchange: Exchange, response: NodeJS.EventEmitter): void {
    this.#open.add(exchange);
    response.once('close', () => this.#open.delete(exchange));
    this.#requests.push(exchange);
    if (this.#requests.length > KEPT_REQUESTS) this.#requests.shift();
    void this.#router.handle(exchange);
  }

  #nextId(): string {
    this.#count++;
    return this.#count.toString(16).padStart(24, '0');
  }
}
