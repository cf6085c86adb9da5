import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server on this machine that gives these answers in turn, the last one for ever. */
export async function serve(...answers: Answer[]) {
  const seen: { method: string | undefined; body: string; headers: IncomingMessage['headers'] }[] =
    [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      seen.push({ method: request.method, body, headers: request.headers });
      answers[Math.min(seen.length, answers.length) - 1]?.(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { seen, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** An answer with the body that came. */
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_request, response, body) =>
    response.writeHead(code, headers).end(`${code} ${body}`);
export const tooManyNow = status(429, { 'retry-after-ms': '1' });

/** Once it has happened, be it at a later turn. */
export async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await new Promise((resolve) => setImmediate(resolve));
}
