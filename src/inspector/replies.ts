import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type {
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http';
import { isIP } from 'node:net';

/**
 * Headers of every response: no other site may frame or read it, and it loads nothing from
 * elsewhere.
 */
export const SECURITY_HEADERS: OutgoingHttpHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/**
 * Whether a request names this server by an address, by `localhost`, or by its given name. With DNS
 * rebinding, a website's own name resolves to this server: then the request has that name.
 */
export function isHostAllowed(header: string | undefined, host: string): boolean {
  const name = hostname(header);
  if (name === undefined) return false;
  return name === 'localhost' || name === host.toLowerCase() || isIP(name) !== 0;
}

/** Whether a request comes from this page, or from no page at all. */
export function isSameOrigin({ origin, host, ...headers }: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  // A proxy may serve the page by HTTPS. No other server has this host and port there.
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
}

function hostname(header = ''): string | undefined {
  const match = /^(\[[\da-f:.]+\]|[^:/?#@[\]\s]+)(?::\d{1,5})?$/i.exec(header);
  return match?.[1]?.replace(/^\[|\]$/g, '').toLowerCase();
}

/** The token that every request for a change must send. */
export class Token {
  readonly text = randomBytes(24).toString('base64url');
  readonly #digest = digest(this.text);

  /** Whether a header is `Bearer` and this token. The time of the comparison does not reveal it. */
  isIn(authorization: string | undefined): boolean {
    const given = /^Bearer ([\w-]+)$/.exec(authorization ?? '')?.[1];
    return given !== undefined && timingSafeEqual(digest(given), this.#digest);
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The largest body of a command, in bytes. */
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

/** @param why a sentence for the client */
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
      // The rest of the body is not read.
      request.pause();
      refuse(response, 413, `At most ${MOST_BODY_BYTES} bytes.`, { connection: 'close' });
    }
  });
  request.on('end', () => {
    if (!response.headersSent) then(Buffer.concat(chunks).toString());
  });
}
