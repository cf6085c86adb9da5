import { checkChoice, checkInteger, checkKeys, checkNumber } from '../../model/check.ts';
import { kindOfStatus } from '../admission.ts';
import type { ProviderAnswer } from '../provider-types.ts';
import type { CompletionFormat } from './completion.ts';
import { type Dialect, type RouteContext, sendRefusal } from './dialect.ts';
import type { Exchange } from './exchange.ts';

/** What goes wrong with one completion on its way, whatever the provider would make of it. */
export interface HttpFault {
  /**
   * - `status`: an error as the API words it; in the middle of a stream, as an event;
   * - `hang`: no answer; a stream falls silent;
   * - `reset`: the connection breaks;
   * - `malformed`: 200, and what should be JSON is none.
   */
  fault: 'status' | 'hang' | 'reset' | 'malformed';
  /** Of the fault `status`: 400 to 599. Default 500. */
  status?: number;
  /** Told with the status, in milliseconds. Default: not told. */
  retryAfterMs?: number;
  /** How many words of a stream come first. Default 0: not even its head does. */
  afterWords?: number;
}

/** Says what goes wrong with a completion, by its number from 0; undefined: nothing. */
export type FaultScript = (index: number) => HttpFault | undefined;

/** What a proxy or a broken pipe leaves of a JSON object. */
const MALFORMED = '{"id": "cut o';

/** @throws RangeError or TypeError that names the field, its bound and the value */
export function checkFault(fault: HttpFault): HttpFault {
  checkKeys('fault', fault, ['fault', 'status', 'retryAfterMs', 'afterWords']);
  checkChoice('fault', fault.fault, ['status', 'hang', 'reset', 'malformed']);
  const { status = 500, retryAfterMs = 0, afterWords = 0 } = fault;
  if (checkInteger('status', status, 400) > 599) {
    throw new RangeError(`\`status\` must be an integer <= 599, got ${status}`);
  }
  checkNumber('retryAfterMs', retryAfterMs, 0);
  checkInteger('afterWords', afterWords, 0);
  return fault;
}

function answerOf({ status = 500, retryAfterMs }: HttpFault): ProviderAnswer {
  return {
    status,
    kind: kindOfStatus(status),
    ...(status === 429 && { code: 'rate_limit_exceeded' }),
    message: 'The request was told to fail.',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    usage: { inputTokens: 0, outputTokens: 0 },
    limits: [],
    latencyMs: 0,
  };
}

/** What goes wrong before anything was answered. */
export function failAtOnce(
  fault: HttpFault,
  exchange: Exchange,
  context: RouteContext,
  dialect: Dialect,
  format: CompletionFormat,
  stream: boolean,
): void {
  if (fault.fault === 'status') sendRefusal(answerOf(fault), exchange, context, dialect);
  else if (fault.fault === 'reset') exchange.breakOff();
  else if (fault.fault === 'malformed') {
    const headers = dialect.headers(exchange);
    if (stream) {
      exchange.startEvents(headers);
      format.event(MALFORMED);
      exchange.endEvents();
    } else exchange.sendText(200, headers, MALFORMED);
  }
}

/** What goes wrong in the middle of a stream; what would be said after that is not. */
function failMidway(
  fault: HttpFault,
  exchange: Exchange,
  dialect: Dialect,
  format: CompletionFormat,
): void {
  if (fault.fault === 'reset') exchange.breakOff();
  else if (fault.fault !== 'hang') {
    if (fault.fault === 'malformed') format.event(MALFORMED);
    else format.failed(dialect.refusal(answerOf(fault), exchange).body);
    exchange.endEvents();
  }
  exchange.fallSilent();
}

/** The words of a stream up to where it fails. */
export function failingFormat(
  format: CompletionFormat,
  fault: HttpFault,
  exchange: Exchange,
  dialect: Dialect,
): CompletionFormat {
  let left = fault.afterWords ?? 0;
  return {
    ...format,
    word: (word) => {
      if (left === 0) failMidway(fault, exchange, dialect, format);
      else format.word(word);
      left -= 1;
    },
    ended: () => {
      if (left >= 0) failMidway(fault, exchange, dialect, format);
    },
  };
}
