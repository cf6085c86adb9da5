/** Middleware for the Vercel AI SDK, versions 5 to 7. It imports nothing from `ai`. */

import { type AcquireOptions, checkAcquireOptions } from '../limiter/acquire-options.ts';
import type { Task } from '../limiter/calls.ts';
import { endWith } from '../limiter/fetch.ts';
import { heldParts } from '../limiter/held-body.ts';
import type { Limiter } from '../limiter/limiter.ts';
import type { AttemptContext } from '../request/attempt-context.ts';
import { estimateBytes, estimateTokens } from '../sizing/estimate.ts';
import { checkFunction, checkMethods } from '../util/check.ts';
import { field, recordUsage, watchParts } from './model-result.ts';

/** The parts of the AI SDK's types that `paced` needs. The types of each SDK version fit these. */

/** The parameters of one call of a model. */
export interface CallParams {
  readonly prompt: unknown;
  readonly maxOutputTokens?: number | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  /** Options for providers; a function for `options` may read them too. */
  readonly providerOptions?:
    | Readonly<Record<string, Readonly<Record<string, unknown>>>>
    | undefined;
}

/** A model, as a middleware gets it. `P`: parameters; `G`, `S`: whole and streamed results. */
export interface PacedModel<P, G, S> {
  readonly provider: string;
  readonly modelId: string;
  doGenerate(params: P): PromiseLike<G>;
  doStream(params: P): PromiseLike<S>;
}

/** One call of a model that a middleware wraps. */
export interface PacedCall<P, G, S> {
  readonly params: P;
  readonly model: PacedModel<P, G, S>;
}

/** A streamed result: its parts, and the headers of the response. */
export interface StreamResult<Part = unknown> {
  readonly stream: ReadableStream<Part>;
  readonly response?: unknown;
}

/** The parts of a streamed answer that are read ahead of its reader. Most answers have fewer. */
const READ_AHEAD_PARTS = 4_096;

/** The options of each call, as for `limiter.run`. The `abortSignal` of a call ends it. */
export type PacedOptions = Omit<AcquireOptions, 'signal' | 'timeoutMs'>;

/** A middleware of the AI SDK's language models, for `wrapLanguageModel`. */
export interface PacedMiddleware {
  readonly specificationVersion: 'v3';
  wrapGenerate<P extends CallParams, G extends object, S>(call: PacedCall<P, G, S>): Promise<G>;
  wrapStream<P extends CallParams, G, S extends StreamResult>(call: PacedCall<P, G, S>): Promise<S>;
}

/**
 * Sends the calls of a language model of the Vercel AI SDK through a limiter: each waits at its
 * gate, is retried as in `limiter.run`, and holds its slot until it has ended.
 *
 * - A streamed answer holds its slot until its last part, until it fails, or until it is cancelled
 *   or aborted. Up to 4,096 parts are read ahead; a longer answer that is not read for 30 s gives
 *   up its slot. A call is retried if it fails before or with the first part of its answer.
 * - The size of a call is the size of its prompt in bytes and tokens, unless `options` set it.
 * - The usage of the answer is recorded as `tokens`, `inputTokens` (without those from a cache),
 *   `cachedTokens` and `outputTokens`, and the limits in its headers are observed.
 *
 * Set `maxRetries: 0` in the calls of the SDK: else it retries calls that the limiter has given up.
 *
 * @param options the options of each call, or a function that returns them, or undefined,
 * for its parameters
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * const model = wrapLanguageModel({ model: openai('gpt-5-mini'), middleware: paced(limiter) });
 */
export function paced(
  limiter: Limiter,
  options: PacedOptions | ((params: CallParams) => PacedOptions | undefined) = {},
): PacedMiddleware {
  checkMethods('limiter', limiter, ['run', 'snapshot']);
  if (typeof options === 'object') checkAcquireOptions(options);
  else checkFunction('options', options);
  const { clock } = limiter.feedback;

  const sendWhole = async <R extends object>(
    params: CallParams,
    { provider }: Named,
    call: Call<R>,
  ): Promise<R> => {
    return limiter.run(
      async (context) => {
        const result = await call(context.signal);
        observe(context, result);
        recordUsage(context, result, provider);
        return result;
      },
      optionsOf(params, options),
    );
  };

  const sendStreamed = async <S extends StreamResult>(
    params: CallParams,
    { provider }: Named,
    call: Call<S>,
  ) => {
    const task: Task<S> = async (context) => {
      const result = await call(context.signal);
      observe(context, result);
      const watched = await watchParts(result.stream, context.signal, (finish) =>
        recordUsage(context, finish, provider),
      );
      if (context.isAbandoned) return result;
      const tail = context.hold();
      const ended = () => (watched.failure ? tail.failed(watched.failure.error) : tail.ended());
      const { abortSignal } = params;
      const holder = {
        ended,
        leftUnread: () => {
          if (abortSignal !== undefined) endWith(abortSignal, context, watched.parts);
          ended();
        },
        failed: (error: unknown) => tail.failed(error),
      };
      return { ...result, stream: heldParts(watched.parts, holder, clock, READ_AHEAD_PARTS) };
    };
    return limiter.run(task, optionsOf(params, options));
  };

  return {
    specificationVersion: 'v3',
    wrapGenerate: ({ params, model }) =>
      sendWhole(params, model, (abortSignal) => model.doGenerate({ ...params, abortSignal })),
    wrapStream: ({ params, model }) =>
      sendStreamed(params, model, (abortSignal) => model.doStream({ ...params, abortSignal })),
  };
}

type Named = Pick<PacedModel<unknown, unknown, unknown>, 'provider'>;
type Call<R> = (signal: AbortSignal) => PromiseLike<R>;

function optionsOf(
  params: CallParams,
  options: PacedOptions | ((params: CallParams) => PacedOptions | undefined),
): AcquireOptions {
  const own = typeof options === 'function' ? (options(params) ?? {}) : options;
  const bytes = own.bytes ?? estimateBytes(params.prompt);
  const tokens = own.tokens ?? estimateTokens(params.prompt, bytes);
  const signal = params.abortSignal;
  return { ...own, bytes, tokens, ...(signal && { signal }) };
}

/** Observes only the headers: the usage is in the form of the SDK. */
function observe(context: AttemptContext, result: object): void {
  const headers = field(field(result, 'response'), 'headers');
  if (headers !== undefined) context.observe({ headers });
}
