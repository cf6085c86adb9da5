/** What all workers of one key share. */
export interface Setup {
  /** Of Redis, on this machine. */
  readonly port: number;
  /** A name that no other measurement has. */
  readonly key: string;
  /** Requests in any window; undefined: more than are sent. */
  readonly limit?: Limit;
  /** Requests in flight, over all workers; undefined: more than are sent. */
  readonly slots?: number;
}

export interface Limit {
  readonly requests: number;
  /** Whole seconds. */
  readonly windowMs: number;
}
