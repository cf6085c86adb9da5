import type { LimitUnit, ReportedLimit } from '../model/feedback.ts';
import type { HeaderGet, PartialVerdict, ProviderAdapter, ProviderResponse } from './adapter.ts';
import { quotaIn, quotasOf, reported, untilReset, windowOf } from './headers.ts';
import { type Item, parseDictionary, parseList } from './structured-list.ts';
import { plainNumber, resetOf, untilResetMs } from './times.ts';

/** The quota units of the draft that headgate counts. */
const UNITS: Readonly<Record<string, LimitUnit>> = {
  requests: 'requests',
  'content-bytes': 'bytes',
  'concurrent-requests': 'concurrency',
};

/** One named policy: its limit, and the amount left. */
interface Policy {
  unit: LimitUnit | undefined;
  limit?: number;
  windowMs?: number;
  remaining?: number;
  resetMs?: number;
}

/** The value of a parameter, if it is a whole number >= 0. */
function amount({ parameters }: Item, key: string): number | undefined {
  const value = parameters.get(key);
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function timesThousand(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/** The draft writes names as strings; tokens are accepted too. */
function policiesOf(header: HeaderGet, answeredAtMs: () => number): Map<string, Policy> {
  const policies = new Map<string, Policy>();
  for (const item of parseList(header('ratelimit-policy'))) {
    const { value: name } = item;
    const unit = item.parameters.get('qu') ?? 'requests';
    if (typeof name !== 'string') continue;
    policies.set(name, {
      unit: typeof unit === 'string' && Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined,
      limit: amount(item, 'q'),
      windowMs: timesThousand(amount(item, 'w')),
    });
  }
  for (const item of parseList(header('ratelimit'))) {
    const { value: name } = item;
    if (typeof name !== 'string') continue;
    const policy = policies.get(name) ?? { unit: 'requests' };
    policies.set(name, {
      ...policy,
      remaining: amount(item, 'r'),
      resetMs: untilResetMs(amount(item, 't')?.toString(), answeredAtMs),
    });
  }
  return policies;
}

/**
 * Drafts up to 7: one limit, in a dictionary (`limit=60, remaining=59, reset=6`) or in three
 * headers. Its policies are in a header of their own (`60;w=6`) or follow the number. Some servers
 * send the reset as a time.
 */
function olderLimits(header: HeaderGet, answeredAtMs: () => number): readonly ReportedLimit[] {
  const members = parseDictionary(header('ratelimit'));
  const told = (key: string) => {
    const value = members.get(key)?.value;
    return typeof value === 'number' ? String(value) : header(`ratelimit-${key}`);
  };
  const quotas = quotasOf(header('ratelimit-policy'));
  const closest = quotaIn(told('limit'));
  const only = quotas.length === 1 ? quotas[0] : undefined;
  const limit = closest.limit ?? only?.limit;
  const remaining = plainNumber(told('remaining'));
  // Only the policies are given.
  if (limit === undefined && remaining === undefined) return quotas.flatMap(limitOf);
  const windowMs = closest.windowMs ?? (limit && windowOf(limit, quotas));
  return limitOf({ limit, remaining, ...resetOf(told('reset'), answeredAtMs), windowMs });
}

function limitOf(report: Omit<ReportedLimit, 'unit'>): ReportedLimit[] {
  const one = reported('requests', report);
  return one === undefined ? [] : [one];
}

function limits(header: HeaderGet, answeredAtMs: () => number): readonly ReportedLimit[] {
  const found = [...policiesOf(header, answeredAtMs).values()].flatMap(
    ({ unit, ...report }) => (unit === undefined ? undefined : reported(unit, report)) ?? [],
  );
  return found.length > 0 ? found : olderLimits(header, answeredAtMs);
}

/** The policy with nothing left was hit: its reset is the wait. */
function verdict({ status, header, answeredAtMs }: ProviderResponse): PartialVerdict | undefined {
  if (status !== 429) return undefined;
  let longest: PartialVerdict | undefined;
  for (const [name, { unit, remaining, resetMs }] of policiesOf(header, answeredAtMs)) {
    if (remaining !== 0) continue;
    if (longest === undefined || (resetMs ?? 0) > (longest.retryAfterMs ?? 0)) {
      const limit = unit === 'concurrency' ? unit : name;
      longest = { limit, retryAfterMs: resetMs };
    }
  }
  return longest ?? untilReset(olderLimits(header, answeredAtMs));
}

/**
 * The header fields of draft-ietf-httpapi-ratelimit-headers 00 to 10. `Retry-After` takes
 * precedence.
 */
export const ietf: ProviderAdapter = {
  name: 'IETF draft',
  marks: ['ratelimit', 'ratelimit-policy', 'ratelimit-limit'],
  limits,
  verdict,
};
