import { afterEach, describe, expect, it, vi } from 'vitest';
import type { GaugeSnapshot } from '../../src/model/gauge.ts';
import { type Instrumentation, needsArrival } from '../../src/model/instrumentation.ts';
import { joinInstrumentations, partsOf } from '../../src/model/join-instrumentations.ts';
import { Ticket } from '../../src/model/ticket.ts';

const ORIGIN = { clock: { now: () => 0, setTimer: () => ({ cancel() {} }) }, tokensOf: () => 0 };
const ticket = new Ticket({ ...ORIGIN, settled: () => {} }, 'value', 1, 1, 0, 0);

/** Probes that write down, by their name, what they are told. */
function scribe(told: string[], name: string): Instrumentation {
  return {
    backoff: (waitMs, source) => void told.push(`${name} ${waitMs} ${source}`),
    sending: (_ticket, send) => {
      told.push(`${name} in`);
      send();
      told.push(`${name} out`);
    },
    opened: () => {
      told.push(`${name} opened`);
      return () => void told.push(`${name} closed`);
    },
    around: () => name,
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('joined instrumentations', () => {
  it('are called in order, and run one inside the other', () => {
    const told: string[] = [];
    const joined = joinInstrumentations(
      scribe(told, 'a'),
      undefined,
      scribe(told, 'b'),
      scribe(told, 'c'),
    );
    joined?.backoff?.(5, 'computed');
    joined?.sending?.(ticket, () => void told.push('sent'));
    expect(told.splice(0)).toEqual([
      'a 5 computed',
      'b 5 computed',
      'c 5 computed',
      ...['a in', 'b in', 'c in', 'sent', 'c out', 'b out', 'a out'],
    ]);
    const close = joined?.opened?.((): GaugeSnapshot => ({ waiting: [] }));
    close?.();
    expect(told).toEqual(['a opened', 'b opened', 'c opened', 'a closed', 'b closed', 'c closed']);
    expect(joined?.around?.()).toBe('a');
  });

  it('have the methods that one of them has, and no other', () => {
    const joined = joinInstrumentations({ settled: () => {} }, { backoff: () => {} });
    expect(Object.keys(joined ?? {}).sort()).toEqual(['backoff', 'settled']);
  });

  it('need arrivals if one of them does', () => {
    const modes: (string | undefined)[] = [];
    const joined = (...needs: (boolean | undefined)[]) =>
      joinInstrumentations(
        ...needs.map((need) => ({
          ...(need !== undefined && {
            needsArrival: (feedback?: { readonly mode: string }) => {
              modes.push(feedback?.mode);
              return need;
            },
          }),
        })),
      );
    expect(needsArrival(undefined)).toBe(false);
    expect(needsArrival(joined(false, false), { mode: 'throttled' })).toBe(false);
    expect(modes).toEqual(['throttled', 'throttled']);
    expect(needsArrival(joined(false, true))).toBe(true);
    expect(needsArrival(joined(false, undefined))).toBe(true);
    expect(needsArrival(joined(undefined, undefined))).toBe(true);
  });

  it('are the single one, or undefined for none', () => {
    expect(joinInstrumentations()).toBeUndefined();
    expect(joinInstrumentations(undefined, undefined)).toBeUndefined();
    const alone = joinInstrumentations(undefined, { backoff: () => {} });
    expect(joinInstrumentations(alone)).toBe(alone);
    expect(alone && partsOf(alone)).toEqual([alone]);
  });

  it('know whom they tell', () => {
    const first = joinInstrumentations({ backoff: () => {} });
    const second = joinInstrumentations({ backoff: () => {} });
    const joined = joinInstrumentations(first, second);
    expect(joined && partsOf(joined)).toEqual([first, second]);
  });

  it('do not prevent each other’s calls, or the sending, by errors', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const told: string[] = [];
    const broken: Instrumentation = {
      backoff: () => {
        throw new Error('no');
      },
      sending: () => {
        throw new Error('no');
      },
    };
    const twice: Instrumentation = {
      sending: (_ticket, send) => {
        send();
        send();
      },
    };
    const joined = joinInstrumentations(broken, twice, scribe(told, 'b'));
    joined?.backoff?.(1, 'retry_after');
    joined?.sending?.(ticket, () => void told.push('sent'));
    expect(told).toEqual(['b 1 retry_after', 'b in', 'sent', 'b out']);
    expect(warn).toHaveBeenCalledOnce();
  });

  it('throw the error of the sending itself', () => {
    const mine = new Error('mine');
    const joined = joinInstrumentations(scribe([], 'a'), scribe([], 'b'));
    const send = () =>
      joined?.sending?.(ticket, () => {
        throw mine;
      });
    expect(send).toThrow(mine);
  });
});
