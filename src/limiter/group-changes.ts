import { checkLimiterConfig } from '../options/check-config.ts';
import { checkShorthands } from '../policies/rate-limit/definition.ts';
import { checkKeys } from '../util/check.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import { changesFor } from './changed-options.ts';
import { CHANGE_KEYS, type Changes, withoutRemovals } from './changes.ts';
import { checkedChange, namesShared } from './configure.ts';
import type { KeyLimiters } from './key-limiters.ts';
import type { KeyTable } from './key-table.ts';
import type { SharedChanges } from './shared-changes.ts';
import type { SharedLimits } from './shared-limits.ts';

/** Limits of a group that can change while requests wait and run. */
export interface GroupChanges {
  /** Changes of the limits that all keys share. */
  readonly shared?: SharedChanges;
  /** Changes of the limits of each key, present and later ones. */
  readonly each?: Changes;
}

/** The parts of a group that changes concern. */
interface ChangedParts {
  readonly limiters: KeyLimiters;
  readonly shared: SharedLimits | undefined;
  readonly table: KeyTable;
  readonly now: number;
}

/**
 * Checks all changes of a group, and makes none.
 * @returns what makes the limiters of keys from then on, and what makes the changes
 * @throws RangeError or TypeError that names the option
 */
export function configureGroup(
  changes: GroupChanges,
  parts: ChangedParts,
): { readonly limiters: KeyLimiters; readonly apply: () => void } {
  checkKeys('group.configure', changes, ['shared', 'each']);
  const { limiters, shared, table } = parts;
  const changeShared = changes.shared === undefined ? undefined : sharedOf(changes.shared, parts);
  const keys = changes.each === undefined ? undefined : keysOf(changes.each, parts);
  const apply = () => {
    changeShared?.();
    keys?.change();
    // Only when all limits have changed may requests pass.
    keys?.configured();
    if (changeShared === undefined) return;
    for (const { inside } of table.limiters) inside.impossible.changed();
    shared?.configured();
  };
  return { limiters: keys?.limiters ?? limiters, apply };
}

function sharedOf(changes: SharedChanges, { shared, now }: ChangedParts): () => void {
  if (shared !== undefined) return shared.checkedChange(changes, now);
  throw new TypeError('`shared` cannot change: the group was made without it');
}

/** Changes of all keys that were checked. */
interface KeyChanges {
  readonly limiters: KeyLimiters;
  readonly change: () => void;
  /** Admits requests. */
  readonly configured: () => void;
}

function keysOf(each: Changes, { limiters, shared, table }: ChangedParts): KeyChanges {
  const next = changedLimiters(each, limiters, shared);
  const present = table.limiters.map(({ inside }) => inside);
  const changes = present.map((limiter) => checkedChange(changesFor(limiter, each), limiter));
  const renew = table.renewed((key, before) => next.open(key, before, shared));
  return {
    limiters: next,
    change: () => {
      renew();
      for (const change of changes) change();
    },
    configured: () => {
      for (const limiter of present) limiter.configured(namesShared(each));
    },
  };
}

/** @throws RangeError or TypeError that names a wrong option */
function changedLimiters(
  each: Changes,
  limiters: KeyLimiters,
  shared: SharedLimits | undefined,
): KeyLimiters {
  checkKeys('each', each, CHANGE_KEYS);
  checkShorthands(each, (path) => `each.${path}`);
  const plain = withoutUndefined(withoutRemovals(each));
  // Each key checks what its own concurrency bounds.
  const unbounded = { concurrency: Number.MAX_SAFE_INTEGER, ...plain };
  checkLimiterConfig('each', unbounded, [], 'each.');
  const next = limiters.changed(each);
  if (limiters.isByKey) return next;
  // Check the change even if no key is present: the limits of all keys are the same.
  const { inside } = limiters.open('', undefined, shared);
  try {
    checkedChange(each, inside);
  } finally {
    inside.lifecycle.abandon();
  }
  return next;
}
