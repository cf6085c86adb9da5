import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A test's response to a request; `undefined`: a successful answer. */
export type Handler = (
  prompt: string,
  request: IncomingMessage,
) =>
  | {
      readonly status?: number;
      readonly headers?: Record<string, string>;
      readonly body?: unknown;
      readonly text?: string;
    }
  | undefined;

/** A server of chat completions that counts how often each prompt came. */
export interface AnswerServer {
  readonly url: string;
  readonly port: number;
  /** How often each prompt came. */
  readonly counts: ReadonlyMap<string, number>;
  readonly bodies: readonly Record<string, unknown>[];
  /** Resolves when the next request comes. */
  nextCall(): Promise<void>;
  /** The most requests that were in flight. */
  readonly mostInFlight: () => number;
  close(): Promise<void>;
}

export interface AnswerServerOptions {
  readonly delayMs?: () => number;
  readonly handle?: Handler;
  readonly port?: number;
}

/** The answer to a prompt is the prompt, in capitals. */
export async function startAnswerServer(options: AnswerServerOptions = {}): Promise<AnswerServer> {
  const { delayMs = () => 0, handle = () => undefined, port = 0 } = options;
  const counts = new Map<string, number>();
  const bodies: Record<string, unknown>[] = [];
  let [inFlight, most] = [0, 0];
  const callers: (() => void)[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    inFlight += 1;
    for (const called of callers.splice(0)) called();
    most = Math.max(most, inFlight);
    response.on('close', () => {
      inFlight -= 1;
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    bodies.push(body);
    const prompt = promptOf(body);
    counts.set(prompt, (counts.get(prompt) ?? 0) + 1);
    const other = handle(prompt, request);
    const wait = delayMs();
    if (wait > 0) await sleep(wait);
    response.statusCode = other?.status ?? 200;
    for (const [name, value] of Object.entries(other?.headers ?? {}))
      response.setHeader(name, value);
    response.setHeader('content-type', 'application/json');
    response.setHeader('x-request-id', `req-${bodies.length}`);
    response.end(other?.text ?? JSON.stringify(other?.body ?? completion(prompt, body)));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${actual}`,
    port: actual,
    counts,
    bodies,
    nextCall: () => new Promise((resolve) => callers.push(resolve)),
    mostInFlight: () => most,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function promptOf(body: { messages?: { content?: unknown }[]; input?: unknown }): string {
  return String(body.messages?.at(-1)?.content ?? body.input ?? '');
}

function completion(prompt: string, body: Record<string, unknown>) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: body.model,
    choices: [{ index: 0, message: { role: 'assistant', content: prompt.toUpperCase() } }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  };
}
