import { checkChoice, checkInteger, show } from '../util/check.ts';
import type { StoreSettings } from './protocol.ts';

export const STORE_KEYS = [
  'ttlMs',
  'keepMs',
  'onStoreLoss',
  'worker',
] as const satisfies readonly (keyof StoreSettings)[];

export const DEFAULT_TTL_MS = 5_000;
/** As long as a limit of a day, and longer than what was learned is of use. */
const DEFAULT_KEEP_MS = 86_400_000;
const LEAST_TTL_MS = 100;
const WORKER = /^[\w.:@-]{1,64}$/;

/** The times of a store, with their defaults. */
export function timesOf({ ttlMs = DEFAULT_TTL_MS, keepMs }: StoreSettings) {
  return { ttlMs, keepMs: keepMs ?? Math.max(ttlMs, DEFAULT_KEEP_MS) };
}

/** @throws RangeError or TypeError that names a wrong option */
export function checkStoreSettings(settings: StoreSettings): void {
  const { ttlMs = DEFAULT_TTL_MS, keepMs, onStoreLoss, worker } = settings;
  checkInteger('ttlMs', ttlMs, LEAST_TTL_MS);
  if (keepMs !== undefined) checkInteger('keepMs', keepMs, ttlMs);
  if (onStoreLoss !== undefined) checkChoice('onStoreLoss', onStoreLoss, ['pause', 'share']);
  if (worker !== undefined && (typeof worker !== 'string' || !WORKER.test(worker))) {
    throw new TypeError(
      `\`worker\` must be a string of 1 to 64 letters, digits and .:@_-, got ${show(worker)}`,
    );
  }
}
