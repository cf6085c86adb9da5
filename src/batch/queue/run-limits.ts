import type { LimiterOptions } from 'headgate';
import { isObject } from '../json.ts';

/** Limits that a run gives to the workers of its queue, which keep to them together. */
export interface RunLimits extends Pick<LimiterOptions, (typeof NAMES)[number]> {
  /** When the run began, in ms since 1970: the limits of the last run are in force. */
  readonly at: number;
}

const NAMES = ['concurrency', 'requestsPerMinute', 'tokensPerMinute'] as const;

/** What of a job's data is limits of a run; undefined: it has none. */
export function runLimitsIn(value: unknown): RunLimits | undefined {
  if (!isObject(value) || typeof value.at !== 'number') return undefined;
  const given = NAMES.flatMap((name) => {
    const limit = value[name];
    return typeof limit === 'number' && Number.isSafeInteger(limit) && limit >= 1
      ? [[name, limit] as const]
      : [];
  });
  return { at: value.at, ...Object.fromEntries(given) };
}

/** Without the time. */
export function limitsOf({ at: _, ...limits }: RunLimits): LimiterOptions {
  return limits;
}
