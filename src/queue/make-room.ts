import { QueueFullError } from '../model/errors.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import type { Decision, DrainLoop } from './drain-loop.ts';
import { type QueueCapacity, seekDropped } from './queue-rules.ts';
import { type AdmissionCallback, headTicket, notifyAdmitted } from './waiting-requests.ts';

/**
 * Makes room for a newcomer, if need be by dropping the oldest waiting request. Requests that were
 * sent before count towards the bound, but enter without this check and are never dropped: if the
 * oldest is one of them, the newcomer is dropped. While the gate decides on the head of the queue,
 * no waiting request is dropped.
 * @returns the new decision on the newcomer, if requests were dropped; `passed` if it was refused,
 *   or its owner has ended. Undefined: it has to wait, as before
 */
export function makeRoom(
  newcomer: Ticket,
  owner: AdmissionCallback,
  capacity: QueueCapacity,
  loop: DrainLoop,
  now: number,
): Decision | undefined {
  const { requests, waits } = loop;
  const { bound, dropped: droppedBefore } = capacity;
  const queue = requests.first;
  const waitKind = waits.kindOf(requests.areRetries);
  const drop = (ticket: Ticket, sender: AdmissionCallback) => {
    capacity.dropped += 1;
    if (waits.instrumentationOf(sender) !== undefined) ticket.gaveUpAt = waitKind;
    ticket.refuse(new QueueFullError(bound.maxQueue, waitKind));
  };
  while (!owner.gone) {
    if (requests.length < bound.maxQueue) {
      // If waiting requests have left, the newcomer may need less.
      return capacity.dropped === droppedBefore ? undefined : loop.decide(newcomer, owner, now);
    }
    if (loop.isDeciding || !seekDropped(queue, bound, newcomer, owner)) break;
    const { item, owner: oldest } = queue;
    if (isTicket(item) && item.attempts > 0) break;
    let dropped: Ticket | undefined;
    // Making its ticket calls functions of the user.
    loop.keepingHeads(() => {
      dropped = headTicket(queue);
      if (dropped === undefined) return;
      queue.shift();
      oldest.queued -= 1;
      drop(dropped, oldest);
    });
    if (dropped !== undefined) {
      if (dropped.outcome === undefined) waits.ended(dropped, oldest, false, now);
      if (!oldest.gone) notifyAdmitted(oldest, dropped);
    }
    // The head has left: the next request may need less.
    loop.drain();
  }
  // A newcomer whose owner ended meanwhile was not refused.
  if (!owner.gone) drop(newcomer, owner);
  loop.restIfEmpty();
  return 'passed';
}
