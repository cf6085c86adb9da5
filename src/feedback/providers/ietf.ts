import type { LimitUnit, ReportedLimit } from '../../model/feedback.ts';
import type { Answer, HeaderGet, Reader, Remark } from './reader.ts';
import { reported } from './rows.ts';
import { type Item, parseList } from './structured-list.ts';
import { plainNumber } from './times.ts';

/** The quota units of the draft; others are not counted by headgate. */
const UNITS: Readonly<Record<string, LimitUnit>> = {
  requests: 'requests',
  'content-bytes': 'bytes',
  'concurrent-requests': 'concurrency',
};

/** One policy, by its name: what it allows, and what is left of it. */
interface Policy {
  unit: LimitUnit | undefined;
  limit?: number;
  windowMs?: number;
  remaining?: number;
  resetMs?: number;
}

/** A whole number >= 0 of a parameter. */
function amount({ parameters }: Item, key: string): number | undefined {
  const value = parameters.get(key);
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function timesThousand(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Names are strings in the draft; tokens are taken too. */
function nameOf({ value }: Item): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function policiesOf(header: HeaderGet): Map<string, Policy> {
  const policies = new Map<string, Policy>();
  for (const item of parseList(header('ratelimit-policy'))) {
    const name = nameOf(item);
    const unit = item.parameters.get('qu') ?? 'requests';
    if (name === undefined) continue;
    policies.set(name, {
      unit: typeof unit === 'string' && Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined,
      limit: amount(item, 'q'),
      windowMs: timesThousand(amount(item, 'w')),
    });
  }
  for (const item of parseList(header('ratelimit'))) {
    const name = nameOf(item);
    if (name === undefined) continue;
    const policy = policies.get(name) ?? { unit: 'requests' };
    policies.set(name, {
      ...policy,
      remaining: amount(item, 'r'),
      resetMs: timesThousand(amount(item, 't')),
    });
  }
  return policies;
}

/** The names of older drafts: three headers, one limit, seconds. */
function olderLimits(header: HeaderGet): readonly ReportedLimit[] {
  const limit = plainNumber(header('ratelimit-limit')?.split(/[,;]/, 1)[0]);
  const remaining = plainNumber(header('ratelimit-remaining'));
  const resetMs = timesThousand(plainNumber(header('ratelimit-reset')));
  const one = reported('requests', { limit, remaining, resetMs });
  return one === undefined ? [] : [one];
}

function limits(header: HeaderGet): readonly ReportedLimit[] {
  const found = [...policiesOf(header).values()].flatMap(
    ({ unit, ...said }) => (unit === undefined ? undefined : reported(unit, said)) ?? [],
  );
  return found.length > 0 ? found : olderLimits(header);
}

/** Nothing left of a policy: it is the one that was hit, and its `t` says when to come again. */
function remark({ status, header }: Answer): Remark | undefined {
  if (status !== 429 || header('ratelimit') === undefined) return undefined;
  let longest: Remark | undefined;
  for (const [limit, { remaining, resetMs }] of policiesOf(header)) {
    if (remaining !== 0) continue;
    if (longest === undefined || (resetMs ?? 0) > (longest.retryAfterMs ?? 0)) {
      longest = { limit, ...(resetMs !== undefined && { retryAfterMs: resetMs }) };
    }
  }
  return longest;
}

/**
 * The header fields of draft-ietf-httpapi-ratelimit-headers-10, and of the drafts up to 6. A
 * `Retry-After` wins over them.
 */
export const ietf: Reader = {
  name: 'IETF draft',
  reads:
    '`RateLimit-Policy` (`q`, `w`, `qu`: requests, content-bytes, concurrent-requests) and `RateLimit` (`r`, `t`) as structured fields; `RateLimit-{Limit,Remaining,Reset}`',
  marks: ['ratelimit', 'ratelimit-policy', 'ratelimit-limit'],
  limits,
  remark,
};
