import {
  checkChoice,
  checkFunction,
  checkInteger,
  checkKeys,
  checkNumber,
} from '../../util/check.ts';
import type { OutputOptions } from './text.ts';

/** A fault of one completion, regardless of the provider's answer. */
export interface HttpFault {
  /**
   * - `status`: an error in the format of the API; in the middle of a stream, as an event;
   * - `hang`: no answer; a stream sends nothing more;
   * - `reset`: the connection breaks;
   * - `malformed`: 200, with text that is not valid JSON.
   */
  fault: 'status' | 'hang' | 'reset' | 'malformed';
  /** The status of the fault `status`: 400 to 599. Default 500. */
  status?: number;
  /** The wait that the answer names, in milliseconds. Default: none. */
  retryAfterMs?: number;
  /** The number of words that a stream sends before the fault. Default 0: the fault comes first. */
  afterWords?: number;
}

/** Returns the fault of a completion, by its number from 0; undefined: none. */
export type FaultScript = (index: number) => HttpFault | undefined;

/** @throws RangeError or TypeError that names the field, its bound and the value */
function checkFault(fault: HttpFault): HttpFault {
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

/** Options of `serve`. */
export interface ServeOptions {
  /** 0 to 65535. Default 0: any free port. */
  port?: number;
  /** Names of models; a request for another gets 404. Default: every name is accepted. */
  models?: readonly string[];
  /** How long answers are. */
  output?: OutputOptions;
  /** How long `retrieve_future` waits before it answers 408, in milliseconds. Default 1000. */
  pollMs?: number;
  /** How long a future's result is kept, in milliseconds. Default 600,000. */
  futureTtlMs?: number;
  /**
   * The faults of single completions, for all APIs but Tinker: called once for each completion,
   * with its number from 0, before the provider gets it. Default: no faults.
   */
  faults?: FaultScript;
  /** Wall time for dates in headers and bodies, in milliseconds since 1970. Default `Date.now`. */
  wallNow?: () => number;
}

/** Options with their defaults. */
export interface ServeSettings {
  readonly port: number;
  readonly models: readonly string[] | undefined;
  readonly output: OutputOptions;
  readonly pollMs: number;
  readonly futureTtlMs: number;
  readonly faults: FaultScript;
  readonly wallNow: () => number;
}

const KEYS = ['port', 'models', 'output', 'pollMs', 'futureTtlMs', 'faults', 'wallNow'] as const;

/** @throws RangeError or TypeError that names the option, its bound and the value */
export function readServeOptions(options: ServeOptions): ServeSettings {
  checkKeys('serve', options, KEYS);
  const port = checkInteger('port', options.port ?? 0, 0);
  if (port > 65_535) throw new RangeError(`\`port\` must be an integer <= 65535, got ${port}`);
  const { models, output = {}, wallNow = Date.now, faults = noFault } = options;
  if (models?.some((name) => typeof name !== 'string' || name === '')) {
    throw new TypeError('`models` must be names that are not empty');
  }
  checkKeys('output', output, ['mean', 'sigma']);
  checkNumber('output.mean', output.mean ?? 1, Number.MIN_VALUE);
  checkNumber('output.sigma', output.sigma ?? 0, 0);
  checkFunction('wallNow', wallNow);
  checkFunction('faults', faults);
  const pollMs = checkNumber('pollMs', options.pollMs ?? 1000, 0);
  const futureTtlMs = checkNumber('futureTtlMs', options.futureTtlMs ?? 600_000, 0);
  return { port, models, output, pollMs, futureTtlMs, faults: checked(faults), wallNow };
}

function noFault(): undefined {}

function checked(faults: FaultScript): FaultScript {
  return (index) => {
    const fault = faults(index);
    return fault === undefined ? undefined : checkFault(fault);
  };
}
