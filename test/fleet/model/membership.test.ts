import { describe, expect, it } from 'vitest';
import { newFleetState, type WorkerRecord } from '../../../src/fleet/model/fleet-state.ts';
import { comesBack, RECOVERY, tellsMore } from '../../../src/fleet/model/membership.ts';
import { noHolding } from '../../../src/fleet/model/pool.ts';
import type { ExchangeRequest } from '../../../src/fleet/protocol.ts';

const NOW = 5_000_000;
const AWAITED_UNTIL = 6_000_000;

const record = (): WorkerRecord => ({
  sequence: 1,
  sent: 0,
  reply: undefined,
  slots: noHolding(),
  bytes: noHolding(),
  out: 0,
  unused: [],
  epoch: 0,
  backBy: 0,
});

const told = (facts: Partial<ExchangeRequest>) => facts as ExchangeRequest;

/** A store that was away until now. */
function awayStore() {
  const state = newFleetState();
  state.now = NOW;
  state.awaitedUntil = AWAITED_UNTIL;
  return state;
}

describe('a worker that went on alone and comes back', () => {
  it('stops all lending for half a second, from the first one on, and keeps room for the others', () => {
    const state = awayStore();
    comesBack(state, record(), told({ alone: 1, workers: 4 }), false);
    expect(state).toMatchObject({
      recoveringUntil: NOW + RECOVERY,
      roomUntil: AWAITED_UNTIL,
      expected: 4,
      back: 1,
    });
    state.now += RECOVERY / 2;
    comesBack(state, record(), told({ alone: 1, workers: 5 }), false);
    expect(state).toMatchObject({ recoveringUntil: NOW + RECOVERY, expected: 5, back: 2 });
  });

  it('is counted once', () => {
    const state = awayStore();
    const one = record();
    comesBack(state, one, told({ alone: 1, workers: 4 }), false);
    comesBack(state, one, told({ alone: 1, workers: 4 }), false);
    expect(state.back).toBe(1);
  });

  it('changes nothing where it was not alone, or where the store was away for less than a lease', () => {
    const state = awayStore();
    comesBack(state, record(), told({ alone: 0, workers: 4 }), false);
    state.now = AWAITED_UNTIL;
    comesBack(state, record(), told({ alone: 1, workers: 4 }), false);
    expect(state).toMatchObject({ recoveringUntil: 0, roomUntil: 0, expected: 0, back: 0 });
  });

  it('counts where the store has forgotten it, and stops nothing more', () => {
    const state = awayStore();
    state.roomUntil = AWAITED_UNTIL;
    comesBack(state, record(), told({ alone: 1, workers: 3 }), true);
    expect(state).toMatchObject({ recoveringUntil: 0, expected: 3, back: 1 });
  });

  it('counts with its next call, where the store has forgotten it and the call may be older than that', () => {
    const state = awayStore();
    state.run = 2;
    state.roomUntil = AWAITED_UNTIL;
    const one = record();
    comesBack(state, one, told({ alone: 0, run: 1, workers: 3 }), true);
    expect(state).toMatchObject({ expected: 3, back: 0 });
    comesBack(state, one, told({ alone: 0, run: 1, workers: 3 }), false);
    expect(state.back).toBe(0);
    comesBack(state, one, told({ alone: 0, run: 2, workers: 1 }), false);
    comesBack(state, one, told({ alone: 0, run: 2, workers: 1 }), false);
    expect(state).toMatchObject({ expected: 3, back: 1 });
  });

  it('counts with a repetition that states what it holds alone', () => {
    const state = awayStore();
    state.roomUntil = AWAITED_UNTIL;
    const one = record();
    comesBack(state, one, told({ alone: 0, run: 1, workers: 3 }), true);
    comesBack(state, one, told({ alone: 1, run: 1, workers: 3 }), false);
    expect(state.back).toBe(1);
  });
});

it('a call that is repeated tells of more that is held, not of less', () => {
  const state = newFleetState();
  const one = record();
  tellsMore(state, one, told({ slots: 3, bytes: 500 }));
  tellsMore(state, one, told({ slots: 2, bytes: 700 }));
  expect([state.slots.held, one.slots.held]).toEqual([3, 3]);
  expect([state.bytes.held, one.bytes.held]).toEqual([700, 700]);
});
