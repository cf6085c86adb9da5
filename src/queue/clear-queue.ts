import type { Ticket } from '../model/ticket.ts';
import type { DrainLoop } from './drain-loop.ts';
import type { WaitRecorder } from './wait-recorder.ts';
import {
  type AdmissionCallback,
  type Newcomer,
  notifyAdmitted,
  type WaitingRequests,
} from './waiting-requests.ts';

/**
 * Ends the wait of each request for which `errorOf` returns an error; the others keep their places.
 * Refuses the requests and takes them all out of the queue first, then calls their owners: new
 * requests of the owners are queued behind the remaining ones.
 * @param errorOf must not throw
 */
export function clearQueue(
  requests: WaitingRequests,
  waits: WaitRecorder,
  loop: DrainLoop,
  errorOf: (waiter: Newcomer) => Error | undefined,
  now: number,
): void {
  const cleared: [ticket: Ticket, owner: AdmissionCallback, isRetry: boolean][] = [];
  loop.keepingHeads(() =>
    requests.takeOut(errorOf, (ticket, owner, error, isRetry) => {
      waits.noteExit(ticket, owner);
      ticket.refuse(error);
      cleared.push([ticket, owner, isRetry]);
    }),
  );
  for (const [ticket, owner, isRetry] of cleared) {
    if (ticket.outcome === undefined) waits.ended(ticket, owner, isRetry, now);
    if (!owner.gone) notifyAdmitted(owner, ticket);
  }
}
