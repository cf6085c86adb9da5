import { neverCharged } from '../policies/rate-limit-policy.ts';
import { warn } from '../util/warn.ts';
import type { AcquireOptions } from './acquire-options.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';

/** Calls without `costs` after which a limit that only `costs` charge is probably a mistake. */
const ENOUGH = 10;
/** The limits that this process has warned of. */
const warned = new Set<string>();

/** Warns of a limit that calls are never charged for, such as one with the name `rpm`. */
export class UnchargedCalls {
  private readonly runtime: LimiterRuntime;
  /** The calls so far; at `ENOUGH` there is nothing left to warn of. */
  private calls = 0;

  constructor(runtime: LimiterRuntime) {
    this.runtime = runtime;
  }

  /** A call has arrived. */
  count(own: AcquireOptions | undefined): void {
    if (this.calls >= ENOUGH) return;
    const { impossible, hasCosts } = this.runtime;
    const limit = own?.costs === undefined && !hasCosts ? impossible.uncharged : undefined;
    this.calls = limit === undefined ? ENOUGH : this.calls + 1;
    if (limit === undefined || this.calls < ENOUGH || warned.has(limit)) return;
    warned.add(limit);
    warn(`headgate: ${neverCharged(limit)}`);
  }
}
