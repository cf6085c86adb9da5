import type { Dialect, Route } from './dialect.ts';

/** What the list has when every name is a model. */
const DEFAULT_MODELS = ['simulated-model'];

/** The models of a simulator are as old as the epoch. */
const CREATED = '1970-01-01T00:00:00Z';

/** The list of models, as Anthropic words it for a client that says it speaks that API. */
export function modelsRoute(anthropic: Dialect): Route {
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
