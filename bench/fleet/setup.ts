/** The settings that all workers of one key share. */
export interface Setup {
  /** The port of Redis on this machine. */
  readonly port: number;
  /** The key, which no other measurement uses. */
  readonly key: string;
  /** The most requests in any window; undefined: more than are sent. */
  readonly limit?: Limit;
  /** The most requests in flight over all workers; undefined: more than are sent. */
  readonly slots?: number;
}

export interface Limit {
  readonly requests: number;
  /** In ms, a multiple of 1,000. */
  readonly windowMs: number;
}
