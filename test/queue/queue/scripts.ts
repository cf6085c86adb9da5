import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { isCancelled, type Step, type Waiter, type Waiters, waiter } from './waiters.ts';

/** A queue as anybody would write it: slow, and obviously right. */
export interface Model {
  push(item: Waiter): void;
  /** The one to be served next, of those that live. */
  next(): Waiter | undefined;
  /** The one to be given up for a newcomer; undefined: the newcomer itself. */
  oldest(newcomer: Waiter): Waiter | undefined;
  replace(item: Waiter, by: Waiter): void;
  /** It has been served, or not. */
  remove(item: Waiter, served: boolean): void;
  living(): readonly Waiter[];
}

/**
 * Plays a script on a queue and its model, and compares them at each step and to the end: with
 * `node:assert`, since `expect` takes a hundred times as long.
 */
export function play(queue: Waiters, model: Model, steps: readonly Step[]): void {
  let now = 0;
  for (const step of steps) {
    if (step.do === 'push') {
      now += step.afterMs;
      const item = waiter(step.sort, now);
      const mayBeNext = queue.push(item, item, now, replyTo(item));
      model.push(item);
      if (!mayBeNext) notEqual(model.next(), item);
    } else if (step.do === 'kill') {
      const living = model.living();
      const from = step.which % (living.length + 1);
      const dying = living.slice(from, from + step.count);
      for (const item of dying) item.cancelled = true;
      queue.markCancelled(dying.length);
      for (const item of dying) model.remove(item, false);
    } else if (step.do === 'move') {
      moveOne(queue, model, step.which, step.to);
    } else if (step.do === 'overflow') {
      giveUp(queue, model, waiter(step.sort, now));
    } else {
      compareHeads(queue, model);
      if (step.do === 'serve') take(queue, model);
      if (step.do === 'replace') replaceHead(queue, model);
    }
    equal(queue.length, model.living().length);
  }
  while (queue.length > 0) {
    compareHeads(queue, model);
    take(queue, model);
  }
  deepEqual(model.living(), []);
  equal(queue.seek(), false);
}

/** Some have none. */
function replyTo({ id }: Waiter): string | undefined {
  return id % 3 === 0 ? undefined : `to ${id}`;
}

function compareHeads(queue: Waiters, model: Model): void {
  const next = model.next();
  equal(queue.seek(), next !== undefined);
  if (next === undefined) return;
  equal(queue.item, next);
  equal(queue.since, next.since);
  equal(queue.reply, replyTo(queue.owner));
  equal(isCancelled(queue.owner), false);
}

function take(queue: Waiters, model: Model): void {
  const next = model.next();
  if (next === undefined) return;
  queue.shift();
  model.remove(next, true);
}

function moveOne(queue: Waiters, model: Model, which: number, to: number): void {
  const living = model.living();
  const item = living[which % (living.length || 1)];
  if (item === undefined) return;
  const { priority: from, since, order } = item;
  // A queue may not know exactly since when it waits.
  const known = which % 2 === 0 ? since : Number.NaN;
  if (from === to) return;
  item.isMoved = true;
  item.priority = to;
  queue.move?.(item, { from, to, since: known, order });
}

function replaceHead(queue: Waiters, model: Model): void {
  const next = model.next();
  if (next === undefined) return;
  const { priority, key, cost, since, isMoved, order } = next;
  const other = waiter({ priority, key, cost }, since);
  Object.assign(other, { isMoved, order });
  queue.replace(other);
  model.replace(next, other);
}

function giveUp(queue: Waiters, model: Model, newcomer: Waiter): void {
  const oldest = model.oldest(newcomer);
  equal(queue.seekOldest?.(newcomer, newcomer), oldest !== undefined);
  if (oldest === undefined) return;
  equal(queue.item, oldest);
  queue.shift();
  model.remove(oldest, false);
}
