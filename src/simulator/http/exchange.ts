import type { IncomingMessage, ServerResponse } from 'node:http';

/** Headers of a response, lower-case. */
export type Headers = Readonly<Record<string, string>>;

/** One HTTP request and its response. */
export class Exchange {
  readonly request: IncomingMessage;
  /** Without the query. */
  readonly path: string;
  readonly id: string;
  /** The time of arrival on the provider's clock. */
  readonly receivedMs: number;
  /** Fires if the client leaves or the server closes. */
  readonly signal: AbortSignal;
  readonly #response: ServerResponse;
  readonly #controller = new AbortController();
  #isSilent = false;

  constructor(request: IncomingMessage, response: ServerResponse, id: string, receivedMs: number) {
    this.request = request;
    this.#response = response;
    this.id = id;
    this.receivedMs = receivedMs;
    this.signal = this.#controller.signal;
    this.path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    response.on('close', () => {
      if (!response.writableFinished) this.abort('the client left');
    });
    // Errors after the client has left need no answer.
    response.on('error', () => this.abort('the connection broke'));
  }

  get method(): string {
    return this.request.method ?? 'GET';
  }

  /** The status of the answer; undefined before it is sent. */
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
    this.sendText(status, headers, JSON.stringify(body));
  }

  /** Sends a text with the content type of JSON, even if it is not valid JSON. */
  sendText(status: number, headers: Headers, text: string): void {
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
    if (this.#isSilent) return;
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    this.#response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
  }

  endEvents(): void {
    if (!this.#isSilent) this.#response.end();
  }

  /** From now on sends nothing of the stream: neither events nor its end. */
  fallSilent(): void {
    this.#isSilent = true;
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
