import { checkChoice, checkInteger, checkKeys, checkNumber } from '../../util/check.ts';

/** What goes wrong with one completion on its way, whatever the provider would make of it. */
export interface HttpFault {
  /**
   * - `status`: an error as the API words it; in the middle of a stream, as an event;
   * - `hang`: no answer; a stream falls silent;
   * - `reset`: the connection breaks;
   * - `malformed`: 200, and what should be JSON is none.
   */
  fault: 'status' | 'hang' | 'reset' | 'malformed';
  /** Of the fault `status`: 400 to 599. Default 500. */
  status?: number;
  /** Told with the status, in milliseconds. Default: not told. */
  retryAfterMs?: number;
  /** How many words of a stream come first. Default 0: not even its head does. */
  afterWords?: number;
}

/** Says what goes wrong with a completion, by its number from 0; undefined: nothing. */
export type FaultScript = (index: number) => HttpFault | undefined;

/** @throws RangeError or TypeError that names the field, its bound and the value */
export function checkFault(fault: HttpFault): HttpFault {
  checkKeys('fault', fault, ['fault', 'status', 'retryAfterMs', 'afterWords']);
  checkChoice('fault', fault.fault, ['status', 'hang', 'reset', 'malformed']);
  const { status = 500, retryAfterMs = 0, afterWords = 0 } = fault;
  if (checkInteger('status', status, 400) > 599) {
    throw new RangeError(`\`status\` must be an integer <= 599, got ${status}`);
  }
  checkNumber('retryAfterMs', retryAfterMs, 0);
  checkInteger('afterWords', afterWords, 0);
  return fault;
}
