import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Asset } from './assets.ts';
import { control, controlsOf, readCommand } from './controls.ts';
import { EventStream } from './event-stream.ts';
import { isHostAllowed, isSameOrigin, SECURITY_HEADERS, type Token } from './guards.ts';
import type { Monitor } from './monitor.ts';
import type { RequestQuery } from './request-log.ts';
import type { TrackedGate } from './tracked-gate.ts';
import type { Hello } from './wire.ts';

/** Pages that read events at a time, and connections of all. */
const MOST_READERS = 32;
const MOST_CONNECTIONS = 128;
/** Of a command. */
const MOST_BODY_BYTES = 4_096;
const MOST_REQUESTS = 200;
/** What connections get to take the last state, in ms. */
const GOODBYE_MS = 200;
/** How soon an event source comes back that was cut off, in ms. */
const RETRY_MS = 1_000;

interface Reader {
  readonly stream: EventStream;
  /** The gate that was asked for; 0: whichever is busiest. */
  readonly wanted: number;
  /** The gate that it was shown last. */
  shown: number | undefined;
}

export interface HttpServerParts {
  readonly monitor: Monitor;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly host: string;
  readonly hello: Omit<Hello, 'canControl'>;
  /** Undefined: nothing can be changed. */
  readonly token: Token | undefined;
}

/** Serves the page and what it reads. It keeps no process alive. */
export class HttpServer {
  readonly #parts: HttpServerParts;
  readonly #server: Server;
  readonly #readers = new Set<Reader>();

  constructor(parts: HttpServerParts) {
    this.#parts = parts;
    const limits = { maxHeaderSize: 8_192, requestTimeout: 10_000, headersTimeout: 5_000 };
    this.#server = createServer(limits, (request, response) => this.#answer(request, response));
    this.#server.maxConnections = MOST_CONNECTIONS;
    this.#server.on('connection', (socket) => socket.unref());
    this.#server.unref();
  }

  /** @returns its address. Rejects where the port cannot be had */
  async open(port: number): Promise<string> {
    const { host } = this.#parts;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, resolve);
    });
    const { port: given } = this.#server.address() as AddressInfo;
    const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
    return `http://${shown.includes(':') ? `[${shown}]` : shown}:${given}`;
  }

  /** Pages that read events now. */
  get readerCount(): number {
    return this.#readers.size;
  }

  /** Shows all pages the last state, and says goodbye to them. */
  async close(): Promise<void> {
    this.push();
    for (const { stream } of this.#readers) {
      if (stream.isReady) stream.send('end', '{}');
      stream.end();
    }
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const timer = setTimeout(() => this.#server.closeAllConnections(), GOODBYE_MS);
    await closed;
    clearTimeout(timer);
  }

  /** Sends a frame to all who read. A frame that several want is made once. */
  push(): void {
    if (this.#readers.size === 0) return;
    const { monitor } = this.#parts;
    const { busiest } = monitor;
    const frames = new Map<string, string>();
    for (const reader of this.#readers) {
      if (!reader.stream.isReady) continue;
      const gate = reader.wanted === 0 ? this.#keep(reader, busiest) : monitor.find(reader.wanted);
      const isFirst = reader.stream.isFirst || reader.shown !== gate?.id;
      reader.shown = gate?.id;
      const key = `${gate?.id} ${isFirst}`;
      let frame = frames.get(key);
      if (frame === undefined) {
        frame = this.#frame(gate, isFirst);
        frames.set(key, frame);
      }
      reader.stream.send('frame', frame);
    }
  }

  /** Who was shown one keeps it as long as it is there. */
  #keep({ shown }: Reader, busiest: TrackedGate | undefined): TrackedGate | undefined {
    const kept = shown === undefined ? undefined : this.#parts.monitor.find(shown);
    return kept?.endedAt === undefined ? (kept ?? busiest) : (busiest ?? kept);
  }

  #frame(gate: TrackedGate | undefined, isFirst: boolean): string {
    const { monitor, token } = this.#parts;
    const open = gate?.gate;
    const controls = token === undefined || open === undefined ? undefined : controlsOf(open);
    return JSON.stringify(monitor.frame(gate, controls, isFirst));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { headers, method = '' } = request;
    if (!isHostAllowed(headers.host, this.#parts.host)) {
      refuse(response, 403, 'This server is known by its address or as localhost.');
      return;
    }
    const { url = '/' } = request;
    if (!url.startsWith('/') || !URL.canParse(`http://inspector${url}`)) {
      refuse(response, 400, 'This is no path.');
      return;
    }
    const { pathname, searchParams } = new URL(`http://inspector${url}`);
    const asset = this.#parts.assets.get(pathname);
    if (asset !== undefined) {
      if (!isRead(method)) refuse(response, 405, 'Only GET.', { allow: 'GET, HEAD' });
      else reply(response, 200, asset.type, asset.body);
      return;
    }
    if (!isSameOrigin(headers)) refuse(response, 403, 'Only for the page of this server.');
    else if (pathname === '/control') this.#control(request, response);
    else if (!isRead(method)) refuse(response, 405, 'Only GET.', { allow: 'GET, HEAD' });
    else if (pathname === '/events') this.#read(response, searchParams);
    else if (pathname === '/requests') this.#requests(response, searchParams);
    else if (pathname === '/request') this.#request(response, searchParams);
    else refuse(response, 404, 'There is no such page.');
  }

  #read(response: ServerResponse, query: URLSearchParams): void {
    if (this.#readers.size >= MOST_READERS) {
      refuse(response, 503, `${MOST_READERS} pages are open already.`);
      return;
    }
    response.writeHead(200, { ...SECURITY_HEADERS, 'content-type': 'text/event-stream' });
    const stream = new EventStream(response);
    const reader: Reader = { stream, wanted: numberIn(query, 'gate'), shown: undefined };
    this.#readers.add(reader);
    response.on('close', () => this.#readers.delete(reader));
    response.on('error', () => this.#readers.delete(reader));
    const { hello, token } = this.#parts;
    response.write(`retry: ${RETRY_MS}\n\n`);
    stream.send('hello', JSON.stringify({ ...hello, canControl: token !== undefined }));
    const gate =
      reader.wanted === 0 ? this.#parts.monitor.busiest : this.#parts.monitor.find(reader.wanted);
    reader.shown = gate?.id;
    stream.send('frame', this.#frame(gate, true));
  }

  #requests(response: ServerResponse, query: URLSearchParams): void {
    const asked: RequestQuery = {
      gate: numberIn(query, 'gate'),
      sort: query.get('sort') === 'slowest' ? 'slowest' : 'latest',
      outcome: outcomeIn(query),
      most: Math.min(MOST_REQUESTS, numberIn(query, 'most') || MOST_REQUESTS),
    };
    replyJson(response, 200, this.#parts.monitor.requests(asked));
  }

  /** One request; null where it is not known. */
  #request(response: ServerResponse, query: URLSearchParams): void {
    replyJson(response, 200, this.#parts.monitor.request(numberIn(query, 'id')) ?? null);
  }

  #control(request: IncomingMessage, response: ServerResponse): void {
    const { token } = this.#parts;
    if (request.method !== 'POST') {
      refuse(response, 405, 'Only POST.', { allow: 'POST' });
    } else if (token === undefined) {
      refuse(response, 403, 'The inspector was started without `controls`.');
    } else if (!token.isIn(request.headers.authorization)) {
      refuse(response, 401, 'Open the address with the token that was printed at the start.');
    } else if (request.headers['content-type'] !== 'application/json') {
      refuse(response, 415, 'A command is application/json.');
    } else readBody(request, response, (body) => this.#command(body, response));
  }

  #command(body: string, response: ServerResponse): void {
    try {
      const command = readCommand(JSON.parse(body));
      const gate = this.#parts.monitor.find(command.gate)?.gate;
      if (gate === undefined) {
        refuse(response, 404, 'This limiter or stream has ended.');
        return;
      }
      control(gate, command);
      replyJson(response, 200, { done: true });
    } catch (error) {
      refuse(response, 400, error instanceof Error ? error.message : String(error));
    }
  }
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function numberIn(query: URLSearchParams, name: string): number {
  const value = Number(query.get(name) ?? '0');
  return Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

const OUTCOMES = ['all', 'ok', 'failed', 'retried', 'waited'] as const;

function outcomeIn(query: URLSearchParams): RequestQuery['outcome'] {
  const asked = query.get('outcome');
  return OUTCOMES.find((outcome) => outcome === asked) ?? 'all';
}

/** Reads a body that is not too long, then calls back. */
function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  then: (body: string) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MOST_BODY_BYTES) chunks.push(chunk);
    else if (!response.headersSent) {
      // What more there is is not read.
      request.pause();
      refuse(response, 413, `At most ${MOST_BODY_BYTES} bytes.`, { connection: 'close' });
    }
  });
  request.on('end', () => {
    if (!response.headersSent) then(Buffer.concat(chunks).toString());
  });
}

function replyJson(response: ServerResponse, status: number, value: unknown): void {
  reply(response, status, 'application/json', Buffer.from(JSON.stringify(value)));
}

function refuse(
  response: ServerResponse,
  status: number,
  why: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  reply(response, status, 'text/plain; charset=utf-8', Buffer.from(`${why}\n`), headers);
}

function reply(
  response: ServerResponse,
  status: number,
  type: string,
  body: Buffer,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    ...headers,
    'content-type': type,
    'content-length': body.length,
  });
  response.end(body);
}
