import { describe, expect, it } from 'vitest';
import { telemetryInstrumentation } from '../../../src/advanced.ts';
import {
  concurrencyLimit,
  costBudget,
  pace,
  rateLimit,
  readProviders,
} from '../../../src/index.ts';
import { logNormal, serve } from '../../../src/simulator/index.ts';

const OPERATORS = { concurrencyLimit, costBudget, pace, rateLimit };

describe('options that are no object', () => {
  it.each(Object.entries(OPERATORS))('are refused by %s in its own words', (name, operator) => {
    const call = operator as (options: unknown) => unknown;
    for (const [options, shown] of [
      [null, 'null'],
      [5, '5'],
      [[], 'an array of 0'],
    ]) {
      expect(() => call(options)).toThrow(`the options of ${name} must be an object, got ${shown}`);
    }
  });

  it('are required where an operator has no defaults', () => {
    for (const [name, operator] of Object.entries({ costBudget, rateLimit })) {
      const call = operator as () => unknown;
      expect(call).toThrow(`the options of ${name} must be an object, got undefined`);
    }
  });

  it('are refused by functions for adapters and telemetry', () => {
    const read = readProviders as (readers?: unknown) => unknown;
    expect(() => read()).toThrow('`readers` must be an array of provider adapters, got undefined');
    for (const [adapter, shown] of [
      [null, 'null'],
      ['openai', '"openai"'],
    ]) {
      const message = `\`readers[1]\` must be an object, got ${shown}`;
      expect(() => read([{ name: 'mine' }, adapter])).toThrow(message);
    }
    const instrument = telemetryInstrumentation as (options: unknown) => unknown;
    expect(() => instrument(null)).toThrow(
      'the options of telemetryInstrumentation must be an object, got null',
    );
  });

  it('are refused by the simulator', async () => {
    const distribution = logNormal as (options?: unknown) => unknown;
    expect(() => distribution()).toThrow('the options of logNormal must be an object');
    expect(() => distribution({ meanMs: 1, sigm: 1 })).toThrow('did you mean `sigma`?');
    const open = serve as (provider?: unknown) => Promise<unknown>;
    await expect(open()).rejects.toThrow('`provider` must be an object, got undefined');
  });
});
