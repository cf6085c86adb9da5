import type { IncomingMessage, ServerResponse } from 'node:http';
import { SECURITY_HEADERS } from './guards.ts';

/** Of a command. */
const MOST_BODY_BYTES = 4_096;

type Headers = Readonly<Record<string, string>>;

export function reply(
  response: ServerResponse,
  status: number,
  type: string,
  body: Buffer,
  headers: Headers = {},
): void {
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    ...headers,
    'content-type': type,
    'content-length': body.length,
  });
  response.end(body);
}

export function replyJson(response: ServerResponse, status: number, value: unknown): void {
  reply(response, status, 'application/json', Buffer.from(JSON.stringify(value)));
}

/** @param why a sentence for who asked */
export function refuse(
  response: ServerResponse,
  status: number,
  why: string,
  headers: Headers = {},
): void {
  reply(response, status, 'text/plain; charset=utf-8', Buffer.from(`${why}\n`), headers);
}

/** Reads a body, then calls back. One of more than 4 KiB is refused. */
export function readBody(
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
