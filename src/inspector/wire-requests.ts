/** The data of single requests that the inspector's server sends. Plain data, as in `wire.ts`. */
import type { Gate } from './wire.ts';

/** A part of the life of a request. */
export type Part =
  | {
      readonly kind: 'wait';
      readonly gate: Gate;
      readonly limit?: string | undefined;
      readonly startMs: number;
      readonly ms: number;
      /** The rejection that made it wait. */
      readonly cause?: Cause | undefined;
    }
  | {
      readonly kind: 'attempt';
      readonly attempt: number;
      readonly startMs: number;
      readonly ms: number;
      readonly result: string;
      readonly status?: number | undefined;
      /** The code or class of its error, where there is no status. */
      readonly error?: string | undefined;
      readonly retryAfterMs?: number | undefined;
    };

/** The answer to another request, which made this one wait. */
export interface Cause {
  /** That request, as `RequestRecord.id`, and its position in its stream. */
  readonly id: number;
  readonly index: number;
  readonly at: number;
  readonly status?: number | undefined;
}

/** One request that has ended. */
export interface RequestRecord {
  readonly id: number;
  /** Its position in its stream, from 0. */
  readonly index: number;
  /** Milliseconds since 1970. */
  readonly endedAt: number;
  readonly durationMs: number;
  readonly outcome: string;
  readonly bytes: number;
  readonly tokens: number;
  readonly attempts: number;
  readonly error?: string | undefined;
  readonly parts: readonly Part[];
  readonly value?: string | undefined;
  readonly traceId?: string | undefined;
}

/** A request, and the limiter or stream that it went through. */
export interface FoundRequest {
  readonly gate: number;
  readonly record: RequestRecord;
}
