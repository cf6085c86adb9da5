import { merge, Observable, Subject } from 'rxjs';
import { type LimiterEvent, type LimiterFact, leveled } from '../model/limiter-event.ts';
import type { Limiter } from './limiter.ts';

/** An event of the limiter of one key, or of the shared limits (`key` undefined). */
export type GroupEvent = LimiterEvent & { readonly key: string | undefined };

/** Joins the events of the limiters of all keys with those of the shared limits. */
export class GroupEvents {
  readonly events$: Observable<GroupEvent>;
  private readonly events = new Subject<GroupEvent>();
  /** Emits each limiter that is made. */
  private readonly opened = new Subject<readonly [key: string, limiter: Limiter]>();

  /** @param present returns the present limiters by their keys */
  constructor(present: () => readonly (readonly [key: string, limiter: Limiter])[]) {
    this.events$ = merge(this.events, this.modesOf(present));
  }

  /** Whether the events have a subscriber. */
  get isHeard(): boolean {
    return this.events.observed;
  }

  /** Emits an event of the limiter of a key. */
  emit(event: LimiterEvent, key: string): void {
    this.events.next({ ...event, key });
  }

  /** Emits an event of the shared limits. */
  emitShared(fact: LimiterFact): void {
    this.events.next({ ...leveled(fact), key: undefined });
  }

  /** The limiter of a key was made. */
  add(key: string, limiter: Limiter): void {
    this.opened.next([key, limiter]);
  }

  /** Changes of the mode of each key, while there are subscribers. */
  private modesOf(
    present: () => readonly (readonly [key: string, limiter: Limiter])[],
  ): Observable<GroupEvent> {
    return new Observable((out) => {
      const watch = (key: string, { inside }: Limiter) =>
        out.add(inside.modes$.subscribe((event) => out.next({ ...event, key })));
      for (const [key, limiter] of present()) watch(key, limiter);
      out.add(this.opened.subscribe(([key, limiter]) => watch(key, limiter)));
    });
  }
}
