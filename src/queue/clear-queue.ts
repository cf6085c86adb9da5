import type { Ticket } from '../model/ticket.ts';
import type { DrainLoop } from './drain-loop.ts';
import { type AdmissionCallback, type Newcomer, notifyAdmitted } from './waiting-requests.ts';

/**
 * Ends the wait of each request for which `errorOf` returns an error; the others keep their places.
 * Refuses the requests and takes them all out of the queue first, then calls their owners: new
 * requests of the owners are queued behind the remaining ones.
 * @param errorOf must not throw
 */
export function clearQueue(
  loop: DrainLoop,
  errorOf: (waiter: Newcomer) => Error | undefined,
  now: number,
): void {
  const { requests, waits } = loop;
  const cleared: [ticket: Ticket, owner: AdmissionCallback][] = [];
  loop.keepingHeads(() =>
    requests.takeOut(errorOf, (ticket, owner, error) => {
      waits.noteExit(ticket, owner);
      ticket.refuse(error);
      cleared.push([ticket, owner]);
    }),
  );
  for (const [ticket, owner] of cleared) {
    if (ticket.outcome === undefined) waits.ended(ticket, owner, owner.isRetry === true, now);
    if (!owner.gone) notifyAdmitted(owner, ticket);
  }
}
