import { count, duration, plural, shownName } from './format.ts';
import { type GateState, windowOf } from './gate-state.ts';
import type { LimitRow } from './wire.ts';

/** All known limits: configured, reported by the provider, and learned. */
export function limitRowsOf(state: GateState): readonly LimitRow[] {
  return [...setRows(state), ...costRows(state), ...adaptiveRows(state), ...holdRows(state)];
}

function costRows({ costs }: GateState): LimitRow[] {
  if (costs === undefined) return [];
  const { used, maxCost, windowMs, resetMs, available } = costs;
  return [
    {
      name: 'budget of money',
      source: 'set',
      unit: 'count',
      used,
      limit: maxCost,
      windowMs,
      leftMs: used > 0 ? resetMs : undefined,
      note:
        used > maxCost
          ? 'in debt: more was spent than estimated'
          : `${count(available)} may be spent now`,
    },
  ];
}

function setRows(state: GateState): LimitRow[] {
  return Object.entries(state.limits ?? {}).map(([name, { used, limit, resetMs, available }]) => ({
    name: shownName(name, 80),
    source: 'set',
    unit: 'count',
    used,
    limit,
    windowMs: windowOf(state, name, limit),
    leftMs: used > 0 ? resetMs : undefined,
    note: used > limit ? 'in debt: more was used than estimated' : `${count(available)} may go now`,
  }));
}

function adaptiveRows({ rate: adaptive }: GateState): LimitRow[] {
  if (adaptive === undefined || adaptive.origin === 'start') return [];
  const { origin, perSecond, tokens, cap } = adaptive;
  const rows: LimitRow[] = [];
  const source = origin === 'headers' ? 'told' : origin === 'limit' ? 'set' : 'learned';
  if (Number.isFinite(perSecond)) {
    rows.push(rateRow('rate of requests', source, perSecond, certaintyOf(adaptive)));
  }
  if (tokens !== undefined && Number.isFinite(tokens.perSecond)) {
    const told = tokens.origin === 'headers' ? 'told' : 'learned';
    rows.push(rateRow('rate of tokens', told, tokens.perSecond, ''));
  }
  if (cap !== undefined) {
    rows.push({
      name: 'requests in flight',
      source: 'learned',
      unit: 'count',
      used: undefined,
      limit: cap,
      windowMs: undefined,
      leftMs: undefined,
      note: 'the provider turned away what was above it',
    });
  }
  return rows;
}

/** How reliable a learned rate is, and since when. */
function certaintyOf(adaptive: NonNullable<GateState['rate']>): string {
  const { ceilingPerSecond, leastPerSecond, mostPerSecond, evidence, sinceCutMs, origin } =
    adaptive;
  const byChance = Math.round(100 * adaptive.rejectedByChance);
  const said: string[] = [];
  if (origin === 'headers') said.push('from the headers of its answers');
  // All rates in the unit of the row.
  const isFast = isToldBySecond(adaptive.perSecond);
  const told = (perSecond: number) => count(isFast ? perSecond : perSecond * 60);
  const unit = isFast ? 'a second' : 'a minute';
  if (ceilingPerSecond !== undefined) said.push(`measured ${told(ceilingPerSecond)} ${unit}`);
  if (sinceCutMs !== undefined) said.push(`${duration(sinceCutMs)} ago`);
  if (leastPerSecond !== undefined && mostPerSecond !== undefined) {
    said.push(`between ${told(leastPerSecond)} and ${told(mostPerSecond)} ${unit}`);
  }
  if (evidence !== undefined)
    said.push(`from ${plural(Math.max(1, Math.round(evidence)), 'answer')}`);
  if (byChance > 0) said.push(`${byChance} % are rejected whatever the rate`);
  return said.join(', ');
}

/** Whether a rate is shown per second. Slower rates are shown per minute. */
function isToldBySecond(perSecond: number): boolean {
  return perSecond >= 10;
}

function rateRow(
  name: string,
  source: LimitRow['source'],
  perSecond: number,
  note: string,
): LimitRow {
  const isFast = isToldBySecond(perSecond);
  return {
    name,
    source,
    unit: 'count',
    used: undefined,
    limit: isFast ? perSecond : perSecond * 60,
    windowMs: isFast ? 1_000 : 60_000,
    leftMs: undefined,
    note,
  };
}

function holdRows({ inFlight, limit, maxLimit, hasThrottledSlots, bytes }: GateState): LimitRow[] {
  const isCut = limit < maxLimit;
  return [
    {
      name: 'concurrency',
      source: isCut && !hasThrottledSlots ? 'learned' : 'set',
      unit: 'count',
      used: inFlight,
      limit,
      windowMs: undefined,
      leftMs: undefined,
      note: concurrencyNote(isCut, hasThrottledSlots, maxLimit),
    },
    {
      name: 'bytes in flight',
      source: 'set',
      unit: 'bytes',
      used: bytes.used,
      limit: bytes.limit,
      windowMs: undefined,
      leftMs: undefined,
      note: bytes.used > bytes.limit ? 'overdrawn by one large request' : '',
    },
  ];
}

function concurrencyNote(isCut: boolean, hasThrottledSlots: boolean, maxLimit: number): string {
  if (hasThrottledSlots) return `in throttled mode; ${count(maxLimit)} in normal mode`;
  return isCut ? `may become ${count(maxLimit)}` : '';
}
