import type { Random } from '../../util/clock.ts';
import type { ProviderAnswer } from '../provider-types.ts';
import { type Dialect, type Route, type RouteContext, sendRefusal } from './dialect.ts';
import type { Future, FutureStore } from './futures.ts';
import {
  invalidField,
  isObject,
  type JsonObject,
  optionalCount,
  optionalObject,
  Problem,
  readJson,
  requireList,
  requireText,
} from './request-body.ts';
import { drawLength, type OutputOptions, randomFor } from './text.ts';

const MIB = 1024 * 1024;

/** An error with its category, `server` or `user`, as failed requests of this API have it. */
function errorBody(status: number, error: string) {
  return { error, category: status >= 500 ? 'server' : 'user' };
}

/** A sampling API that returns futures. Its 429 names neither limits nor a wait. */
export const tinkerDialect: Dialect = {
  maxBytes: 64 * MIB,
  apiKey: (exchange) => exchange.header('x-api-key') ?? exchange.bearer(),
  headers: () => ({}),
  limitHeaders: () => ({}),
  problem: ({ status, message }) => ({ status, headers: {}, body: errorBody(status, message) }),
  refusal: ({ status, message }) => ({
    status,
    headers: {},
    body: errorBody(status, message ?? ''),
  }),
};

const DEFAULT_MAX_TOKENS = 1024;
const MOST_TOKENS = 1_000_000;
const MOST_SAMPLES = 1024;
const VOCABULARY = 32_000;

interface SampleRequest {
  readonly prompt: string;
  readonly inputTokens: number;
  /** The most tokens of each sample. */
  readonly maxTokens: number;
  readonly samples: number;
}

interface Sequence {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
  readonly stop_reason: 'length' | 'stop';
}

function countChunk(chunk: unknown, index: number): number {
  if (!isObject(chunk)) throw invalidField(`prompt.chunks[${index}]`, 'an object is required');
  const { tokens, expected_tokens: expected } = chunk;
  if (Array.isArray(tokens)) return tokens.length;
  return typeof expected === 'number' && Number.isInteger(expected) && expected > 0 ? expected : 0;
}

function readSample(body: JsonObject): SampleRequest {
  const models = ['base_model', 'model_path', 'sampling_session_id'];
  const model = models.find((field) => typeof body[field] === 'string');
  if (model === undefined)
    throw invalidField('base_model', `one of ${models.join(', ')} is required`);
  const { prompt } = body;
  if (!isObject(prompt)) throw invalidField('prompt', 'an object with chunks is required');
  const inputTokens = requireList(prompt, 'chunks').reduce<number>(
    (sum, chunk, index) => sum + countChunk(chunk, index),
    0,
  );
  const params = optionalObject(body, 'sampling_params');
  const maxTokens = optionalCount(params, 'max_tokens', MOST_TOKENS) ?? DEFAULT_MAX_TOKENS;
  const samples = optionalCount(body, 'num_samples', MOST_SAMPLES) ?? 1;
  return { prompt: JSON.stringify([body[model], prompt]), inputTokens, maxTokens, samples };
}

function drawSequence(random: Random, maxTokens: number, output: OutputOptions): Sequence {
  const length = drawLength(random, maxTokens, output);
  const tokens = Array.from({ length }, () => Math.floor(random() * VOCABULARY));
  const logprobs = tokens.map(() => Math.log(1 - random()));
  return { tokens, logprobs, stop_reason: length === maxTokens ? 'length' : 'stop' };
}

/** The result of a future: the samples, or an error. */
function resultOf(answer: ProviderAnswer, sequences: readonly Sequence[]): unknown {
  if (answer.kind === 'ok') return { type: 'sample', sequences };
  const category = answer.kind === 'fatal' ? 'user' : 'server';
  return { error: answer.message ?? answer.kind, category };
}

/** Takes a sampling request and returns the id of its future at once. */
export function sampleRoute(futures: FutureStore): Route {
  return {
    method: 'POST',
    path: '/api/v1/asample',
    async handle(exchange, context, dialect) {
      const { json, bytes } = await readJson(exchange.request, dialect.maxBytes);
      const { prompt, inputTokens, maxTokens, samples } = readSample(json);
      const { provider, closed } = context;
      const random = randomFor(provider.seed, prompt);
      const sequences = Array.from({ length: samples }, () =>
        drawSequence(random, maxTokens, context.output),
      );
      const apiKey = dialect.apiKey(exchange);
      const future: { current?: Future } = {};
      let started = false;
      let admitted = false;
      const answer = provider.submit({
        inputTokens,
        maxTokens: maxTokens * samples,
        outputTokens: sequences.reduce((sum, { tokens }) => sum + tokens.length, 0),
        bytes,
        signal: closed,
        ...(apiKey === undefined ? {} : { apiKey }),
        onAdmitted: () => {
          admitted = true;
        },
        onStarted: () => {
          started = true;
          if (future.current?.state === 'queued') future.current.state = 'active';
        },
      });
      if (!admitted) {
        sendRefusal(await answer, exchange, context, dialect);
        return;
      }
      const result = answer.then((done) => resultOf(done, sequences));
      future.current = futures.add(exchange.id, result);
      if (started) future.current.state = 'active';
      exchange.sendJson(200, {}, { request_id: exchange.id });
    },
  };
}

/** Waits until the future is done, the client leaves, or `pollMs` have passed. */
async function waitFor(
  future: Future,
  { provider: { clock } }: RouteContext,
  signal: AbortSignal,
  pollMs: number,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = clock.setTimer(resolve, pollMs);
    const leave = () => {
      timer.cancel();
      resolve();
    };
    future.done.then(leave);
    signal.addEventListener('abort', leave, { once: true });
  });
}

/** Answers with a future's result; 408 while it is pending, 410 when it is unknown or expired. */
export function retrieveRoute(futures: FutureStore, pollMs: number): Route {
  return {
    method: 'POST',
    path: '/api/v1/retrieve_future',
    async handle(exchange, context, dialect) {
      const { json } = await readJson(exchange.request, dialect.maxBytes);
      const id = requireText(json, 'request_id');
      const future = futures.find(id);
      if (future === undefined) throw new Problem(410, `The request ${id} is unknown or expired.`);
      if (future.state !== 'done' && pollMs > 0)
        await waitFor(future, context, exchange.signal, pollMs);
      if (future.state === 'done') {
        exchange.sendJson(200, {}, future.result);
        return;
      }
      const queue_state = future.state === 'active' ? 'active' : 'paused_capacity';
      exchange.sendJson(408, {}, { type: 'try_again', request_id: id, queue_state });
    },
  };
}
