import type { LimitUnit, ReportedLimit } from '../model/feedback.ts';
import type { HeaderGet, PartialVerdict, ProviderAdapter, ProviderResponse } from './adapter.ts';
import { anthropic } from './anthropic.ts';
import { azure } from './azure.ts';
import { groq } from './groq.ts';
import { MINUTE_MS, readRows, reported, rowOf } from './headers.ts';
import { ietf } from './ietf.ts';
import { mistral } from './mistral.ts';
import { openai } from './openai.ts';
import { readText } from './shape.ts';
import { PASSED_ON, plainNumber } from './times.ts';
import { together } from './together.ts';

/**
 * The scopes of the proxy's limits (`parallel_request_limiter_v3.py`). Each has its own headers.
 */
const SCOPES = [
  'api_key',
  'model_per_key',
  'user',
  'end_user',
  'team',
  'team_member',
  'model_per_team',
  'organization',
  'model_per_organization',
  'model_per_project',
  'agent',
  'tag',
  'tag_per_key',
];

const UNITS: Readonly<Record<string, LimitUnit>> = {
  requests: 'requests',
  tokens: 'tokens',
  max_parallel_requests: 'concurrency',
};

/**
 * Windows are taken to be a minute. A proxy can be started with another length, but does not report
 * it.
 */
function windowOf(unit: LimitUnit): number | undefined {
  return unit === 'concurrency' ? undefined : MINUTE_MS;
}

const ROWS = SCOPES.flatMap((scope) =>
  Object.entries(UNITS).map(([type, unit]) =>
    rowOf(unit, `x-ratelimit-${scope}-*-${type}`, windowOf(unit)),
  ),
);

/** The adapters for headers of the provider behind the proxy. */
const BEHIND: readonly ProviderAdapter[] = [
  groq,
  azure,
  openai,
  anthropic,
  mistral,
  ietf,
  together,
];

/** The proxy's limits, smallest first, then the provider's limits on other units. */
function limits(header: HeaderGet, answeredAtMs: () => number): readonly ReportedLimit[] {
  const own = readRows(ROWS, header, answeredAtMs).sort((a, b) => sizeOf(a) - sizeOf(b));
  // The proxy repeats some headers of the provider without the prefix, but not the resets.
  const either: HeaderGet = (name) => header(name) ?? header(`${PASSED_ON}${name}`);
  for (const reader of BEHIND) {
    const behind = reader.limits?.(either, answeredAtMs) ?? [];
    if (behind.length === 0) continue;
    return [...own, ...behind.filter(({ unit }) => own.every((one) => one.unit !== unit))];
  }
  return own;
}

function sizeOf({ limit = Number.POSITIVE_INFINITY }: ReportedLimit): number {
  return limit;
}

/** "Limit type: tokens. Current limit: 5, Remaining: 1. …" */
const TYPE = /\blimit type: (requests|tokens|max_parallel_requests)\b/i;
const CURRENT = /\bCurrent limit: (\d{1,15}), Remaining: (\d{1,15})\b/;
/** The texts of the older limiter (`parallel_request_limiter.py`), in the order of its checks. */
const OLDER = [
  ['concurrency', /\bcurrent max_parallel_requests: (\d{1,20}), max_parallel_requests: (\d{1,20})/],
  ['tokens', /\bcurrent tpm: (\d{1,20}), tpm limit: (\d{1,20})/],
  ['requests', /\bcurrent rpm: (\d{1,20}), rpm limit: (\d{1,20})/],
] as const;
const ALL_IN_FLIGHT = /\bMax parallel request limit reached Hit Global Limit: Limit=(\d{1,15})\b/;

/** The limit that was hit; undefined if the proxy did not reject the request itself. */
function hit({ texts, chain, header }: ProviderResponse): ReportedLimit | undefined {
  for (const text of texts) {
    const type = TYPE.exec(text)?.[1];
    if (type !== undefined) return counted(type.toLowerCase(), CURRENT.exec(text) ?? []);
    const [, all] = ALL_IN_FLIGHT.exec(text) ?? [];
    if (all !== undefined) return counted('max_parallel_requests', ['', all, '0']);
    for (const [unit, counts] of OLDER) {
      const [, used, limit] = counts.exec(text) ?? [];
      if (used !== undefined && Number(used) >= Number(limit)) return { unit };
    }
  }
  const named = chain.map((layer) => readText(layer, 'rate_limit_type'));
  const type = [header('rate_limit_type'), ...named].find((text) => text !== undefined);
  return type === undefined ? undefined : counted(type, []);
}

function counted(type: string, [, limit, remaining]: readonly string[]): ReportedLimit | undefined {
  const unit = Object.hasOwn(UNITS, type) ? UNITS[type] : undefined;
  if (unit === undefined) return undefined;
  const amounts = { limit: plainNumber(limit), remaining: plainNumber(remaining) };
  return reported(unit, { ...amounts, windowMs: windowOf(unit) }) ?? { unit };
}

/**
 * `Retry-After` is always the length of the window. For the limit on concurrent requests that is
 * far too long: a place is free as soon as one of them ends.
 */
function verdict(answer: ProviderResponse): PartialVerdict | undefined {
  if (answer.status !== undefined && answer.status !== 429) return undefined;
  const limit = hit(answer);
  if (limit === undefined) return undefined;
  return {
    kind: 'throttled',
    limit: limit.unit,
    limits: limit.limit === undefined ? [] : [limit],
    ignoresRetryAfter: limit.unit === 'concurrency',
  };
}

/** The LiteLLM proxy, in front of any provider. */
export const litellm: ProviderAdapter = {
  name: 'LiteLLM proxy',
  marks: ['x-litellm-call-id', 'x-ratelimit-api_key-limit-requests'],
  limits,
  verdict,
};
