import { describe, expect, it } from 'vitest';
import { classify } from '../../src/providers/classify.ts';

/** The error of Deno 2.9: its message is that of every `fetch`, and its cause has no code. */
const deno = (message: string) => new TypeError('fetch failed', { cause: new Error(message) });
/** The error of Bun 1.1, 1.2 and 1.3. */
const bun = (code: string, message: string) =>
  Object.assign(new Error(message), { code, path: 'http://127.0.0.1:5600/', errno: 0 });
/** The error of Cloudflare Workers. */
const lost = (fields: object) =>
  Object.assign(new Error('Network connection lost.'), { retryable: true, ...fields });

const TO = 'error sending request for url (http://127.0.0.1:5601/): client error (Connect): ';
const FROM =
  'error sending request from 127.0.0.1:54056 for http://127.0.0.1:5600/x?a=1 (127.0.0.1:5600): client error (SendRequest): ';
const REFUSED = 'tcp connect error: Connection refused (os error 111)';
const NO_NAME =
  'dns error: failed to lookup address information: Name or service not known: failed to lookup address information: Name or service not known';
const RESET = 'Connection reset by peer (os error 104)';
const CLOSED = 'connection closed before message completed';
const PIPE = 'stream closed because of a broken pipe';
const UNEXPECTED =
  'The socket connection was closed unexpectedly. For more information, pass `verbose: true` in the second argument to fetch()';
const UNABLE = 'Unable to connect. Is the computer able to access the url?';

describe('the errors of other runtimes', () => {
  it.each([
    ['Deno 2.9: refused', deno(`${TO}${REFUSED}`), 'refused'],
    ['Deno 2.9: no such name', deno(`${TO}${NO_NAME}`), 'refused'],
    ['Deno 2.9: closed', deno(`${FROM}${CLOSED}`), 'broken'],
    ['Deno 2.9: reset', deno(RESET), 'broken'],
    ['Deno 2.9: reset in the TLS handshake', deno(`${TO}${RESET}`), 'broken'],
    ['Deno 2.9: HTTP/2, closed', deno(PIPE), 'broken'],
    ['Deno 2.9: HTTP/2, reset', deno('connection reset'), 'broken'],
    ['Deno 2: in a body', new TypeError('error reading a body from connection'), 'broken'],
    ['Deno 2.4: refused', new TypeError(`${TO}${REFUSED}: ${REFUSED.slice(19)}`), 'refused'],
    ['Deno 2.4: no such name', new TypeError(`${TO}${NO_NAME}`), 'refused'],
    ['Deno 2.4: closed', new TypeError(`${FROM}${CLOSED}`), 'broken'],
    [
      'Deno 2.4: reset',
      new TypeError(`${FROM}connection error: ${RESET}`, { cause: new Error(RESET) }),
      'broken',
    ],
    [
      'Deno 2.4: HTTP/2, closed',
      new TypeError(`${FROM}connection error: ${PIPE}`, { cause: new Error(PIPE) }),
      'broken',
    ],
    ['Bun 1.3: refused', bun('ConnectionRefused', UNABLE), 'refused'],
    ['Bun 1.3: no socket', bun('FailedToOpenSocket', 'Was there a typo in the url?'), 'refused'],
    ['Bun 1.3: closed', bun('ECONNRESET', UNEXPECTED), 'broken'],
    ['Bun 1.1: closed', bun('ConnectionClosed', UNEXPECTED), 'broken'],
    ['Workers: refused or reset', lost({ remote: true }), 'broken'],
    ['Workers: in a body', lost({}), 'broken'],
  ])('mean a failed connection: %s', (_case, thrown, connection) => {
    expect(classify(thrown)).toEqual({ kind: 'failed', retry: true, connection });
  });

  it.each([
    'stream error received: unexpected internal error encountered',
    'stream error received: refused stream before processing any application logic',
  ])('of an HTTP/2 stream are retried, and say nothing of the connection: %s', (message) => {
    expect(classify(deno(message))).toEqual({ kind: 'failed', retry: true });
    const thrown = new TypeError(`${FROM}http2 error: ${message}`, { cause: new Error(message) });
    expect(classify(thrown)).toEqual({ kind: 'failed', retry: true });
  });

  it.each([
    ['a body of the user that fails', deno('mine')],
    ['the same, Deno 2.4', new TypeError(`${FROM}error from user's Body stream: mine`)],
    ['a file', new Error("No such file or directory (os error 2): readfile 'prompts.jsonl'")],
    ['a certificate', deno(`${TO}invalid peer certificate: UnknownIssuer`)],
    ['no TLS', deno(`${TO}received corrupt message of type InvalidContentType`)],
    ['no HTTP', deno(`${FROM}invalid HTTP version parsed`)],
    ['a blocked port', new TypeError('Fetch failed: Requests to port 1 are blocked')],
    ['a URL, Deno', new TypeError("Invalid URL: 'nonsense'")],
    [
      'a URL, Bun',
      Object.assign(new TypeError('fetch() URL is invalid'), { code: 'ERR_INVALID_URL' }),
    ],
    ['a certificate, Bun', bun('DEPTH_ZERO_SELF_SIGNED_CERT', 'self signed certificate')],
    ['a body read twice', new TypeError('Body already consumed')],
  ])('are final if they mean something else: %s', (_case, thrown) => {
    expect(classify(thrown)).toEqual({ kind: 'failed', retry: false });
  });
});
