import { anthropicDialect, anthropicMessages } from './anthropic.ts';
import { bedrockConverse, bedrockDialect } from './bedrock.ts';
import type { Dialect, Route, RouteContext } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import type { FutureStore } from './futures.ts';
import { googleContent, googleDialect } from './google.ts';
import { openAiChat, openAiDialect } from './openai.ts';
import { Problem } from './request-body.ts';
import { retrieveRoute, sampleRoute, tinkerDialect } from './tinker.ts';

/** The list of models if every model name is accepted. */
const DEFAULT_MODELS = ['simulated-model'];

/** The creation date of all simulated models. */
const CREATED = '1970-01-01T00:00:00Z';

/** The list of models: in Anthropic's format for its clients, in OpenAI's for all others. */
function modelsRoute(anthropic: Dialect): Route {
  return {
    method: 'GET',
    path: '/v1/models',
    handle(exchange, context, dialect) {
      const names = context.models ?? DEFAULT_MODELS;
      const data =
        dialect === anthropic
          ? names.map((id) => ({ type: 'model', id, display_name: id, created_at: CREATED }))
          : names.map((id) => ({ id, object: 'model', created: 0, owned_by: 'simulator' }));
      const body =
        dialect === anthropic
          ? { data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null }
          : { object: 'list', data };
      exchange.sendJson(200, dialect.headers(exchange), body);
    },
  };
}

/** The API that a request is for, also if its path is unknown. */
function dialectOf(exchange: Exchange): Dialect {
  if (exchange.path.startsWith('/api/v1/')) return tinkerDialect;
  if (/^\/v1(beta)?\/models\/[^/]+:/.test(exchange.path)) return googleDialect;
  if (exchange.path.startsWith('/model/')) return bedrockDialect;
  const anthropic =
    exchange.path.startsWith('/v1/messages') || exchange.header('anthropic-version') !== undefined;
  return anthropic ? anthropicDialect : openAiDialect;
}

function sendProblem(problem: Problem, exchange: Exchange, dialect: Dialect): void {
  const { status, headers, body } = dialect.problem(problem, exchange);
  const all: Record<string, string> = { ...dialect.headers(exchange), ...headers };
  // Closes the connection rather than read the rest of a body that is too large.
  if (problem.status === 413) Object.assign(all, { connection: 'close' });
  if (problem.allow !== undefined) Object.assign(all, { allow: problem.allow });
  exchange.sendJson(status, all, body);
}

/** Finds the route of an exchange, checks its key, and sends errors in the format of its API. */
export class Router {
  readonly #context: RouteContext;
  readonly #routes: readonly Route[];

  constructor(context: RouteContext, futures: FutureStore, pollMs: number) {
    this.#context = context;
    this.#routes = [
      openAiChat,
      modelsRoute(anthropicDialect),
      anthropicMessages,
      googleContent,
      bedrockConverse,
      sampleRoute(futures),
      retrieveRoute(futures, pollMs),
    ];
  }

  /** Never rejects. */
  async handle(exchange: Exchange): Promise<void> {
    const dialect = dialectOf(exchange);
    try {
      await this.#dispatch(exchange, dialect);
    } catch (error) {
      if (exchange.signal.aborted) exchange.breakOff();
      else if (error instanceof Problem) sendProblem(error, exchange, dialect);
      else sendProblem(new Problem(500, String(error)), exchange, dialect);
    }
  }

  async #dispatch(exchange: Exchange, dialect: Dialect): Promise<void> {
    const route = this.#routes.find(
      ({ path, alias }) => path === exchange.path || alias?.test(exchange.path),
    );
    if (route === undefined) {
      throw new Problem(404, `Unknown request URL: ${exchange.method} ${exchange.path}.`);
    }
    if (route.method !== exchange.method) {
      throw new Problem(405, `Not allowed to ${exchange.method} on ${exchange.path}.`, {
        allow: route.method,
      });
    }
    if (!this.#context.provider.authorises(dialect.apiKey(exchange))) {
      throw new Problem(401, 'No API key was given, or one that is not known.', {
        code: 'invalid_api_key',
      });
    }
    await route.handle(exchange, this.#context, dialect);
  }
}
