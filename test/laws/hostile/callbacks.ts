import type { LimiterOptions } from '../../../src/index.ts';
import type { Instrumentation } from '../../../src/model/instrumentation.ts';
import type { Callback, Setup } from './script.ts';
import { throwOne } from './unprintable.ts';

/** Probes have a callback for each fact. */
const FACTS = [
  ...['arrived', 'queued', 'admitted', 'attemptStarted', 'attemptEnded'],
  ...['backoff', 'changed', 'settled', 'around'],
] as const satisfies readonly (Callback & keyof Instrumentation)[];

/** The callbacks of a user, some of which throw. */
export class Callbacks {
  /** From now on no callback throws. */
  areKind = false;
  readonly #setup: Setup;
  readonly #calls = new Map<Callback, number>();

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  mayThrow(name: Callback): boolean {
    return this.#setup.hostile.includes(name);
  }

  /** A callback is called. */
  call(name: Callback): void {
    if (this.areKind || !this.mayThrow(name)) return;
    const { when, thrown } = this.#setup;
    const count = this.#calls.get(name) ?? 0;
    this.#calls.set(name, count + 1);
    if (((when >>> (count % 32)) & 1) === 1) throwOne(thrown);
  }

  /** The options that are callbacks. */
  options(): Pick<LimiterOptions, 'random' | 'isFailure' | 'classify' | 'instrumentation'> {
    const random = () => {
      this.call('random');
      return 0.5;
    };
    const isFailure = () => {
      this.call('isFailure');
      return true;
    };
    const classify = () => {
      this.call('classify');
      return undefined;
    };
    return {
      random,
      ...(this.mayThrow('isFailure') && { isFailure }),
      ...(this.mayThrow('classify') && { classify }),
      ...(this.#setup.hasProbe && { instrumentation: this.#instrumentation() }),
    };
  }

  #instrumentation(): Instrumentation {
    const told = FACTS.map((name) => [name, () => this.call(name)] as const);
    const opened = () => {
      this.call('opened');
      return () => this.call('opened end');
    };
    const run = (name: 'sending' | 'delivering') => (_subject: unknown, go: () => void) => {
      this.call(name);
      go();
    };
    const carriers = { sending: run('sending'), delivering: run('delivering') };
    return { ...Object.fromEntries(told), opened, ...carriers };
  }
}
