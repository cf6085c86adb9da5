/** RxJS only: `mergeMap` for slots, and `retry` with a growing delay and jitter. */
import { catchError, defer, EMPTY, mergeMap, retry, Subject, timer } from 'rxjs';
import type { ClientContext, HandOver } from '../client.ts';
import type { Prompt } from '../prompts.ts';
import { documented } from './documented.ts';
import { fullJitter } from './helpers.ts';

const BASE_MS = 1000;
const MOST_MS = 30_000;
const RETRIES = 10;

export function mergeMapClient({ random, scenario, send, lost, failed }: ClientContext): HandOver {
  const prompts = new Subject<Prompt>();
  const delay = (_error: unknown, count: number) =>
    timer(fullJitter(random, count, BASE_MS, MOST_MS));
  prompts
    .pipe(
      mergeMap(
        (prompt) =>
          defer(() => send(prompt)).pipe(
            retry({ count: RETRIES, delay }),
            catchError(() => {
              lost(prompt);
              return EMPTY;
            }),
          ),
        documented(scenario).inFlight,
      ),
    )
    .subscribe({ error: failed });
  return (prompt) => prompts.next(prompt);
}
