import { isError } from '../util/print.ts';
import { HeadgateError } from './errors.ts';
import type { ConnectionFailure } from './feedback.ts';
import type { Ticket } from './ticket.ts';

/** Names of errors of JavaScript, the web and SDKs that have no class of that name. */
const KNOWN_NAMES = ['AbortError', 'TimeoutError', 'NetworkError', 'APIConnectionError'];

const CLASS_NAME = /^[A-Za-z_$][\w$]{0,63}$/;

/** Codes of Node's sockets, resolver, TLS and HTTP parser, and of undici. */
const SYSTEM_CODE =
  /^(?:E[A-Z]{3,14}|(?:EAI|ERR|UND_ERR|HPE|CERT|CRL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_[A-Z0-9_]{2,50})$/;

/** How many errors inside each other are searched for a code. `fetch` and SDKs nest two or three. */
const MOST_LAYERS = 5;

/**
 * The error type of an attempt or request: the HTTP status if there is one, else the code of a
 * connection that failed, such as `ECONNREFUSED`, else the error's class. The `name` of an error
 * may hold anything, such as a prompt or a key, so only known names and codes are used.
 */
export function errorTypeOf({ verdict, refusal }: Ticket, error: unknown): string {
  const { kind, status, connection } = verdict ?? {};
  // The caller gets the refusal, whatever the last attempt was answered with.
  if (refusal !== undefined && error === refusal) return typeOf(refusal, connection);
  // A failure after a successful answer has no status of its own.
  if (status !== undefined && kind !== 'ok') return String(status);
  if (isError(error)) return typeOf(error, connection);
  return error === undefined || error === null ? 'unknown' : typeof error;
}

function typeOf(error: Error, connection: ConnectionFailure | undefined): string {
  try {
    // Minifiers shorten the names of classes, but not this one.
    if (error instanceof HeadgateError) return error.name;
    // `fetch` throws the same TypeError for every broken connection: only its cause has a code.
    const code = systemCodeOf(error);
    if (code !== undefined) return code;
    if (KNOWN_NAMES.includes(error.name)) return error.name;
    // Deno, Cloudflare Workers and msw give no code; Bun 1.3 and earlier gives its own.
    if (connection !== undefined) return connection === 'refused' ? 'ECONNREFUSED' : 'ECONNRESET';
    const className = error.constructor.name;
    return CLASS_NAME.test(className) ? className : 'Error';
  } catch {
    return 'Error';
  }
}

/** The code of the error itself, or of the nearest cause that has one. */
function systemCodeOf(error: Error): string | undefined {
  let layer: { code?: unknown; cause?: unknown; errors?: unknown } | undefined = error;
  for (let depth = 0; depth < MOST_LAYERS && layer !== undefined; depth += 1) {
    const { code, cause, errors }: { code?: unknown; cause?: unknown; errors?: unknown } = layer;
    if (typeof code === 'string' && SYSTEM_CODE.test(code)) return code;
    const inner: unknown = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
    layer = isError(inner) ? inner : undefined;
  }
  return undefined;
}
