import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { HttpServer } from '../../src/inspector/http-server.ts';
import { Monitor } from '../../src/inspector/monitor.ts';
import { Token } from '../../src/inspector/replies.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Sends a request with any headers, which `fetch` would not. */
export async function ask(
  url: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  } = {},
): Promise<Reply> {
  const request = httpRequest(url, { method, headers });
  request.on('error', () => {});
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

export interface Served {
  readonly url: string;
  readonly monitor: Monitor;
  readonly server: HttpServer;
  readonly token: Token | undefined;
  /** Looks once and tells all who read, as the timer does four times a second. */
  look(): void;
  close(): Promise<void>;
}

/** A server without the timer and the built page. */
export async function serveInspector({
  controls = false,
  showValues = false,
}: {
  readonly controls?: boolean;
  readonly showValues?: boolean;
} = {}): Promise<Served> {
  const monitor = new Monitor({ showValues, wallNow: () => Date.now() });
  const token = controls ? new Token() : undefined;
  const page = { type: 'text/html; charset=utf-8', body: Buffer.from('<p>page') };
  const server = new HttpServer({
    monitor,
    assets: new Map([['/', page]]),
    host: '127.0.0.1',
    token,
    hello: {
      pid: 1,
      program: 'test',
      node: 'v20',
      startedAt: 0,
      showsValues: showValues,
      traceUrl: undefined,
    },
  });
  const url = await server.open(0);
  return {
    url,
    monitor,
    server,
    token,
    look() {
      monitor.look();
      server.push();
    },
    async close() {
      monitor.close();
      await server.close();
    },
  };
}
