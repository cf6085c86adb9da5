import { kindOfStatus } from '../admission.ts';
import type { ModelRequest, ProviderAnswer } from '../provider-types.ts';
import { type Dialect, type RouteContext, sendRefusal } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import type { HttpFault } from './serve-options.ts';
import type { ModelOutput } from './text.ts';
import { WordPacer } from './word-pacer.ts';

/** The format of a completion in one API. */
export interface CompletionFormat {
  whole(answer: ProviderAnswer): unknown;
  started(): void;
  word(word: string): void;
  ended(answer: ProviderAnswer): void;
  /** Sends an event of the kind that carries words, with any data. */
  event(data: unknown): void;
  /** Sends an error in the middle of a stream. */
  failed(body: unknown): void;
}

/** A truncated JSON object, as a proxy or a broken pipe may send it. */
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

/** Carries out a fault before anything was answered. */
function failAtOnce(
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

/** Carries out a fault in the middle of a stream. Nothing is sent after it. */
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

/** A format that sends words up to the fault. */
function failingFormat(
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

/** The costs and the text of a completion, for any API. */
export interface Completion {
  readonly inputTokens: number;
  readonly maxTokens: number;
  readonly bytes: number;
  readonly output: ModelOutput;
}

/** Sends a completion to the provider, and its answer to the client, whole or streamed. */
export async function complete(
  exchange: Exchange,
  context: RouteContext,
  dialect: Dialect,
  completion: Completion,
  format: CompletionFormat,
  stream: boolean,
): Promise<void> {
  const { provider } = context;
  const { inputTokens, maxTokens, bytes, output } = completion;
  const fault = context.nextFault();
  if (fault !== undefined && !(stream && fault.afterWords)) {
    failAtOnce(fault, exchange, context, dialect, format, stream);
    return;
  }
  const words = fault === undefined ? format : failingFormat(format, fault, exchange, dialect);
  const apiKey = dialect.apiKey(exchange);
  let pacer: WordPacer | undefined;
  const request: ModelRequest = {
    inputTokens,
    maxTokens,
    outputTokens: output.words.length,
    bytes,
    signal: exchange.signal,
    ...(apiKey === undefined ? {} : { apiKey }),
    onStarted: ({ serviceMs, limits }) => {
      if (!stream) return;
      const told = dialect.limitHeaders(limits, context, 0);
      exchange.startEvents({ ...dialect.headers(exchange), ...told });
      words.started();
      pacer = new WordPacer(provider.clock, output.words, serviceMs, (word) => words.word(word));
    },
  };
  try {
    const answer = await provider.submit(request);
    if (answer.status === 0) exchange.breakOff();
    else if (answer.kind !== 'ok') sendRefusal(answer, exchange, context, dialect);
    else if (stream) {
      pacer?.finish();
      words.ended(answer);
      exchange.endEvents();
    } else {
      const told = dialect.limitHeaders(answer.limits, context, answer.latencyMs);
      exchange.sendJson(200, { ...dialect.headers(exchange), ...told }, words.whole(answer));
    }
  } finally {
    pacer?.stop();
  }
}
