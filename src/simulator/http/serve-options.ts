import { checkFunction, checkInteger, checkKeys, checkNumber } from '../../util/check.ts';
import { checkFault, type FaultScript } from './fault.ts';
import type { OutputOptions } from './text.ts';

/** @see serve */
export interface ServeOptions {
  /** 0 to 65535. Default 0: any free port. */
  port?: number;
  /** Names of models; a request for another gets 404. Default: every name is a model. */
  models?: readonly string[];
  /** How long answers are. */
  output?: OutputOptions;
  /** How long `retrieve_future` waits for a result before it answers 408, in milliseconds. Default 1000. */
  pollMs?: number;
  /** How long a future's result is kept, in milliseconds. Default 600,000. */
  futureTtlMs?: number;
  /**
   * What goes wrong with single completions of OpenAI and Anthropic: asked once for each, with its
   * number from 0, before the provider sees it. Default: nothing.
   */
  faults?: FaultScript;
  /** Wall time for the dates in headers and bodies, in milliseconds since 1970. Default `Date.now`. */
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
