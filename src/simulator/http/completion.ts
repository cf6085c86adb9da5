import type { ModelRequest } from '../provider-types.ts';
import type { CompletionFormat } from './completion-format.ts';
import { type Dialect, type RouteContext, sendRefusal } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import { failAtOnce, failingFormat } from './faults.ts';
import type { ModelOutput } from './text.ts';
import { WordPacer } from './word-pacer.ts';

/** What a completion costs and says, whatever the API. */
export interface Completion {
  readonly inputTokens: number;
  readonly maxTokens: number;
  readonly bytes: number;
  readonly output: ModelOutput;
}

/** Sends a completion to the provider and its answer to the client: in one piece or as it is made. */
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
