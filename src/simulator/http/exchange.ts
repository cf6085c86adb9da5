import type { IncomingMessage, ServerResponse } from 'node:http';

/** Headers of a response, lower-case. */
export type Headers = Readonly<Record<string, string>>;

/** One HTTP request and its response. Its signal fires when the client leaves or the server closes. */
export class Exchange {
  readonly request: IncomingMessage;
  /** Without the query. */
  readonly path: string;
  readonly id: string;
  readonly signal: AbortSignal;
  readonly #response: ServerResponse;
  readonly #controller = new AbortController();

  constructor(request: IncomingMessage, response: ServerResponse, id: string) {
    this.request = request;
    this.#response = response;
    this.id = id;
    this.signal = this.#controller.signal;
    this.path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    response.on('close', () => {
      if (!response.writableFinished) this.abort('the client left');
    });
    // Whoever left does not hear what went wrong.
    response.on('error', () => this.abort('the connection broke'));
  }

  get method(): string {
    return this.request.method ?? 'GET';
  }

  /** What was answered; undefined while nothing was. */
  get status(): number | undefined {
    return this.#response.headersSent ? this.#response.statusCode : undefined;
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  /** The key of an `authorization: Bearer` header. */
  bearer(): string | undefined {
    return /^Bearer +(\S+)$/i.exec(this.header('authorization') ?? '')?.[1];
  }

  sendJson(status: number, headers: Headers, body: unknown): void {
    const text = JSON.stringify(body);
    this.#start(status, {
      ...headers,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    });
    this.#response.end(text);
  }

  startEvents(headers: Headers): void {
    this.#start(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
    });
  }

  /** One server-sent event; `name` becomes its `event:` line. */
  sendEvent(data: unknown, name?: string): void {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    this.#response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
  }

  endEvents(): void {
    this.#response.end();
  }

  /** Breaks the connection, with no answer or in the middle of one. */
  breakOff(): void {
    this.#response.destroy();
  }

  abort(reason: string): void {
    this.#controller.abort(new Error(reason));
  }

  #start(status: number, headers: Headers): void {
    if (this.#response.headersSent || this.signal.aborted) return;
    this.#response.writeHead(status, headers);
  }
}
