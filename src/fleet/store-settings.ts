import { checkChoice, checkInteger, show } from '../util/check.ts';

/** What a worker does while the store cannot be reached. */
export type OnStoreLoss = 'pause' | 'share';

/** How workers use a store. */
export interface StoreSettings {
  /** A worker that is silent for so long loses what it holds, in ms, an integer >= 100. Default 5000. */
  readonly ttlMs?: number;
  /**
   * What the store knows of a key is dropped when no worker has called for so long, in ms, an integer
   * >= `ttlMs`. Default 86,400,000 (a day). Where the provider named a wait, or a large request was sent
   * ahead of its limit, the time begins when that is over.
   */
  readonly keepMs?: number;
  /**
   * While the store cannot be reached: nothing more is sent (`'pause'`, default), or each worker goes
   * on with an equal share of the limits (`'share'`), by the number of workers that it heard of last. It
   * uses no more slots and bytes than it held as the store went away, until `ttlMs` later.
   */
  readonly onStoreLoss?: OnStoreLoss;
  /**
   * What this worker is called where all of them are shown: up to 64 letters, digits and `.:@_-`.
   * Default: of `redisStore` its host and process, `build-7:4711`; of `memoryStore` none.
   */
  readonly worker?: string;
}

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
