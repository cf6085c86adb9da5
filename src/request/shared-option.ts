import type { SharedStore } from '../fleet/shared-store.ts';
import { checkMethods, show } from '../util/check.ts';

/** What a gate shares with those of other processes. */
export interface SharedOption {
  /**
   * Where several workers of one key meet, such as `redisStore` of `headgate/redis`: the limits are
   * then those of all workers together. Default: they are its own.
   */
  readonly shared?: SharedStore;
}

/** @throws RangeError or TypeError for what is no store, and for what cannot be shared */
export function checkSharedOption({
  shared,
  onLimit,
}: SharedOption & { readonly onLimit?: unknown }): void {
  if (shared === undefined) return;
  checkMethods('shared', shared, ['exchange', 'join']);
  if (onLimit === 'fail') {
    throw new TypeError(
      `\`onLimit\` must be 'wait' with \`shared\`: only the store knows what is left; got ${show(onLimit)}`,
    );
  }
}
