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

/** The error of undici 5 to 7 and of Node's `fetch`: the status of the proxy is in words only. */
const tunnel = (status: number) =>
  Object.assign(new Error(`Proxy response (${status}) !== 200 when HTTP Tunneling`), {
    name: 'AbortError',
    code: 'UND_ERR_ABORTED',
  });
/** What `fetch` throws for it. */
const fetchTunnel = (status: number) =>
  new TypeError('fetch failed', {
    cause: new Error('Request was cancelled.', { cause: tunnel(status) }),
  });

describe('the errors of clients', () => {
  it.each([
    ['Chromium: no connection', new TypeError('Failed to fetch'), 'broken'],
    ['Chromium, with the host', new TypeError('Failed to fetch (api.example.com)'), 'broken'],
    ['Chromium: in a body', new TypeError('network error'), 'interrupted'],
    [
      'Firefox: no connection',
      new TypeError('NetworkError when attempting to fetch resource.'),
      'broken',
    ],
    ['Firefox: in a body', new TypeError('Error in input stream'), 'interrupted'],
    ['Safari: no connection', new TypeError('Load failed'), 'broken'],
    ['Safari: offline', new TypeError('The Internet connection appears to be offline.'), 'broken'],
    [
      'node-fetch: in a chunked body',
      Object.assign(
        new Error('Invalid response body while trying to fetch http://127.0.0.1/: Premature close'),
        { type: 'system', errno: 'ERR_STREAM_PREMATURE_CLOSE', code: 'ERR_STREAM_PREMATURE_CLOSE' },
      ),
      'interrupted',
    ],
    [
      'fetch: in a body',
      new TypeError('terminated', {
        cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
      }),
      'interrupted',
    ],
    [
      'node:http: in a body',
      Object.assign(new Error('aborted'), { code: 'ECONNRESET' }),
      'interrupted',
    ],
    [
      'https-proxy-agent: the proxy closed',
      new Error('Proxy connection ended before receiving CONNECT response'),
      'broken',
    ],
    [
      'https-proxy-agent in node-fetch',
      Object.assign(
        new Error(
          'request to https://127.0.0.1/ failed, reason: Proxy connection ended before receiving CONNECT response',
        ),
        { type: 'system' },
      ),
      'broken',
    ],
    ['undici: the proxy is busy', tunnel(503), 'refused'],
    ['undici: the proxy rejects for now', tunnel(429), 'refused'],
    ['fetch: the proxy finds no server', fetchTunnel(502), 'refused'],
  ])('mean a failed connection: %s', (_case, thrown, connection) => {
    expect(classify(thrown)).toEqual({ kind: 'failed', retry: true, connection });
  });

  it.each([403, 407])('are final where a proxy refuses with %i', (status) => {
    expect(classify(fetchTunnel(status))).toEqual({ kind: 'failed', retry: false });
  });

  it.each([
    [
      'undici',
      Object.assign(new Error('HTTP/2: stream closed before the response was complete'), {
        code: 'UND_ERR_INFO',
      }),
    ],
    [
      'got',
      Object.assign(new Error('The HTTP/2 stream has been early terminated'), {
        code: 'ERR_GOT_REQUEST_ERROR',
      }),
    ],
  ])('of an HTTP/2 stream are retried, and say nothing of the connection: %s', (_c, thrown) => {
    expect(classify(thrown)).toEqual({ kind: 'failed', retry: true });
  });
});

describe('the errors of other runtimes', () => {
  it.each([
    ['Deno 2.9: refused', deno(`${TO}${REFUSED}`), 'refused'],
    ['Deno 2.9: no such name', deno(`${TO}${NO_NAME}`), 'refused'],
    ['Deno 2.9: closed', deno(`${FROM}${CLOSED}`), 'broken'],
    ['Deno 2.9: reset', deno(RESET), 'broken'],
    ['Deno 2.9: reset in the TLS handshake', deno(`${TO}${RESET}`), 'broken'],
    ['Deno 2.9: HTTP/2, closed', deno(PIPE), 'broken'],
    ['Deno 2.9: HTTP/2, reset', deno('connection reset'), 'broken'],
    ['Deno 2: in a body', new TypeError('error reading a body from connection'), 'interrupted'],
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
