import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { control, readCommand } from './controls.ts';
import { MOST_READERS, Readers } from './event-stream.ts';
import type { Monitor } from './monitor.ts';
import {
  isHostAllowed,
  isSameOrigin,
  readBody,
  refuse,
  reply,
  replyJson,
  type Token,
} from './replies.ts';
import type { RequestQuery } from './request-log.ts';
import type { Hello } from './wire.ts';

/** A file of the page. */
interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

const FILES = {
  '/': { file: 'index.html', type: 'text/html; charset=utf-8' },
  '/page.js': { file: 'page.js', type: 'text/javascript; charset=utf-8' },
  '/page.css': { file: 'page.css', type: 'text/css; charset=utf-8' },
  '/icon.svg': { file: 'icon.svg', type: 'image/svg+xml' },
} as const;

/**
 * The folder of the built page, beside this module's bundle. @throws in a bundle without a URL
 */
const builtPage = () => new URL('./page/', import.meta.url);

/**
 * Reads the page, by path.
 * @throws Error if the page is not beside this code: in a bundle, or if the package was not
 * built
 */
export async function readAssets(folder: URL = builtPage()): Promise<ReadonlyMap<string, Asset>> {
  const read = Object.entries(FILES).map(
    async ([path, { file, type }]) =>
      [path, { type, body: await readFile(new URL(file, folder)) }] as const,
  );
  try {
    return new Map(await Promise.all(read));
  } catch (cause) {
    throw new Error(
      `the inspector's page is not in ${folder}: keep headgate/inspector out of your bundle`,
      { cause },
    );
  }
}

/** Connections of all pages. */
const MOST_CONNECTIONS = 128;
const MOST_REQUESTS = 200;
/** The time in which connections can receive the last state, in ms. */
const GOODBYE_MS = 200;

export interface HttpServerParts {
  readonly monitor: Monitor;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly host: string;
  readonly hello: Omit<Hello, 'canControl'>;
  /** Undefined: nothing can be changed. */
  readonly token: Token | undefined;
}

/** Serves the page and its data. It does not keep the process alive. */
export class HttpServer {
  readonly #parts: HttpServerParts;
  readonly #server: Server;
  readonly #readers: Readers;

  constructor(parts: HttpServerParts) {
    this.#parts = parts;
    const { monitor, hello, token } = parts;
    this.#readers = new Readers(monitor, { ...hello, canControl: token !== undefined });
    const limits = { maxHeaderSize: 8_192, requestTimeout: 10_000, headersTimeout: 5_000 };
    this.#server = createServer(limits, (request, response) => this.#answer(request, response));
    this.#server.maxConnections = MOST_CONNECTIONS;
    this.#server.on('connection', (socket) => socket.unref());
    this.#server.unref();
  }

  /** @returns its address. Rejects if the port is not available */
  async open(port: number): Promise<string> {
    const { host } = this.#parts;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      // Processes of a node:cluster would share the port, and each request would reach another one.
      this.#server.listen({ host, port, exclusive: true }, resolve);
    });
    const { port: given } = this.#server.address() as AddressInfo;
    const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
    return `http://${shown.includes(':') ? `[${shown}]` : shown}:${given}`;
  }

  /** Pages that read events now. */
  get readerCount(): number {
    return this.#readers.count;
  }

  /** Sends all pages the last state and the end, and closes the server. */
  async close(): Promise<void> {
    this.push();
    this.#readers.end();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const timer = setTimeout(() => this.#server.closeAllConnections(), GOODBYE_MS);
    await closed;
    clearTimeout(timer);
  }

  /** Sends a frame to all pages that read events. */
  push(): void {
    this.#readers.push();
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
    else if (pathname === '/events') this.#read(request, response, searchParams);
    else if (pathname === '/requests') this.#requests(response, searchParams);
    else if (pathname === '/request') this.#request(response, searchParams);
    else refuse(response, 404, 'There is no such page.');
  }

  #read({ method }: IncomingMessage, response: ServerResponse, query: URLSearchParams): void {
    // An answer of headers alone would never end.
    if (method === 'HEAD') {
      refuse(response, 405, 'Only GET.', { allow: 'GET' });
      return;
    }
    if (this.#readers.count >= MOST_READERS) {
      refuse(response, 503, `${MOST_READERS} pages are open already.`);
      return;
    }
    // A page that was open before the program was restarted has the numbers of another run.
    const run = numberIn(query, 'run');
    const isOtherRun = run !== 0 && run !== this.#parts.hello.startedAt;
    const numberOf = (name: string) => (isOtherRun ? 0 : numberIn(query, name));
    this.#readers.add(response, numberOf('gate'), numberOf('shown'));
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

  /** Answers with one request; null: it is not known. */
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
