import type { ConnectionFailure } from '../model/feedback.ts';
import { isIn } from './error-chain.ts';
import { read } from './shape.ts';

/** Codes of no connection. Bun 1.3 and earlier has the last two. */
const REFUSED_CODES = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
  'FailedToOpenSocket',
];
/** The code of node-fetch for a body that broke off. */
const BODY_CODE = 'ERR_STREAM_PREMATURE_CLOSE';
/** The messages of undici and Node for a body that broke off. Other errors have them too. */
const BODY_TEXT = /^(?:terminated|aborted)$/;
/** Codes of a connection that broke. Bun 1.1 has the last one. */
const BROKEN_CODES = [
  'ECONNRESET',
  'EPIPE',
  'ERR_NETWORK',
  BODY_CODE,
  'UND_ERR_SOCKET',
  'APIConnectionError',
  'ConnectionClosed',
];
/** A timeout is neither of these, in any error: the provider may be slow. */
const TIMEOUT_CODES = [
  'ETIMEDOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'APIConnectionTimeoutError',
  'TimeoutError',
  'ECONNABORTED',
  'ATTEMPT_TIMEOUT',
];
const STREAM_CODE = 'ERR_HTTP2_STREAM_ERROR';
/**
 * Codes of Node's sockets, of its resolver, of undici, of SDKs, of `AbortSignal.timeout` and of
 * headgate itself that mean: no answer came.
 */
const CONNECTION_CODES = [
  ...REFUSED_CODES,
  ...BROKEN_CODES,
  ...TIMEOUT_CODES,
  STREAM_CODE,
  'ERR_HTTP2_GOAWAY_SESSION',
  'ERR_HTTP2_SESSION_ERROR',
];

/**
 * Messages of errors without a code that says as much, and the code that means the same. They are
 * of the `fetch` of Deno, of Cloudflare Workers and of browsers (Chromium, Firefox, Safari), of
 * axios for a body that broke off, of undici and `https-proxy-agent` for a proxy that opens no
 * tunnel, and of undici and got for a stream of HTTP/2. Deno's numbers of ECONNRESET are those of
 * Linux, macOS and Windows.
 */
const TEXTS = [
  [
    /^(?:stream has been aborted|error reading a body from connection|network error|Error in input stream)$/,
    BODY_CODE,
  ],
  [/^Proxy response \((?:429|5\d\d)\) !== 200/, 'EHOSTUNREACH'],
  // Nothing more is told: not even whether the browser is offline or a host may not be asked (CORS).
  [
    /^(?:Failed to fetch|NetworkError when attempting to fetch resource\.|Load failed|The network connection was lost\.|The Internet connection appears to be offline\.)(?: \(.*\))?$/,
    'ERR_NETWORK',
  ],
  [/^error sending request .*\(Connect\): (?:tcp connect|dns) error\b/, 'ECONNREFUSED'],
  [
    /^(?:Network connection lost\.|(?:.* reason: )?Proxy connection ended before .*|.*\(os error (?:104|54|10054)\)|(?:error sending request .*: )?(?:connection closed before message completed|connection reset|stream closed because of a broken pipe))$/,
    'ECONNRESET',
  ],
  [
    /^(?:(?:error sending request .*: )?stream error received: |(?:The )?HTTP\/2:? stream (?:closed|has been early) )/,
    STREAM_CODE,
  ],
] as const;

/** Adds the codes of a failed connection that the error does not have, but its messages mean. */
export function addConnectionCodes(
  words: Set<string>,
  texts: readonly string[],
  chain: readonly unknown[],
): void {
  for (const [pattern, code] of TEXTS) if (isIn(texts, pattern)) words.add(code);
  if (chain.some(isNetworkError)) words.add('ECONNRESET');
}

/** A network error as the Fetch standard defines it. The errors of msw have one as their cause. */
function isNetworkError(layer: unknown): boolean {
  return (
    read(layer, 'type') === 'error' &&
    read(layer, 'status') === 0 &&
    typeof read(layer, 'json') === 'function'
  );
}

/** Whether one of these words means that no answer came. */
export function isConnectionError(words: ReadonlySet<string>): boolean {
  return isAnyOf(CONNECTION_CODES, words);
}

/**
 * How the connection failed; undefined if it did not, or if its request timed out.
 * @param hasStatus whether the error has the status of an answer
 */
export function connectionOf(
  words: ReadonlySet<string>,
  texts: readonly string[],
  hasStatus: boolean,
): ConnectionFailure | undefined {
  if (isAnyOf(REFUSED_CODES, words)) return 'refused';
  if (!isAnyOf(BROKEN_CODES, words) || isAnyOf(TIMEOUT_CODES, words)) return undefined;
  const isBegun = hasStatus || words.has(BODY_CODE) || isIn(texts, BODY_TEXT);
  return isBegun ? 'interrupted' : 'broken';
}

/** Whether no answer came in time. */
export function isTimeout(words: ReadonlySet<string>): boolean {
  return isAnyOf(TIMEOUT_CODES, words);
}

function isAnyOf(codes: readonly string[], words: ReadonlySet<string>): boolean {
  return codes.some((code) => words.has(code));
}
