import { kindOfStatus } from '../admission.ts';
import type { ProviderAnswer } from '../provider-types.ts';
import type { CompletionFormat } from './completion-format.ts';
import { type Dialect, type RouteContext, sendRefusal } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import type { HttpFault } from './fault.ts';

/** What a proxy or a broken pipe leaves of a JSON object. */
const MALFORMED = '{"id": "cut o';

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
