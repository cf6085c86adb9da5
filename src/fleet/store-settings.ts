import { checkChoice, checkInteger, checkMethods } from '../util/check.ts';
import type { SharedStore, StoreSettings } from './protocol.ts';

export const STORE_KEYS = [
  'ttlMs',
  'onStoreLoss',
] as const satisfies readonly (keyof StoreSettings)[];

export const DEFAULT_TTL_MS = 5_000;
const LEAST_TTL_MS = 100;

/** @throws RangeError or TypeError that names a wrong option */
export function checkStoreSettings({ ttlMs, onStoreLoss }: StoreSettings): void {
  if (ttlMs !== undefined) checkInteger('ttlMs', ttlMs, LEAST_TTL_MS);
  if (onStoreLoss !== undefined) checkChoice('onStoreLoss', onStoreLoss, ['pause', 'share']);
}

/** @throws TypeError for what is no store */
export function checkStore(shared: unknown): asserts shared is SharedStore {
  checkMethods('shared', shared, ['exchange']);
  checkStoreSettings(shared as SharedStore);
}
