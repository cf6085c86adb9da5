import { ManualClock } from 'headgate/simulator';
import { expect, it, vi } from 'vitest';
import { headgate } from '../../../bench/goodput/generated/clients/headgate.ts';
import { MOST_TOKENS } from '../../../bench/goodput/generated/limit-specs.ts';
import { drawScenario } from '../../../bench/goodput/generated/space.ts';

it('the largest request is sent by a client that knows the limit, where it estimates too much', () => {
  const scenario = drawScenario(471_054);
  expect([scenario.kind, scenario.estimateBias > 1]).toEqual(['requests-and-tokens', true]);
  const [send, lost] = [vi.fn(), vi.fn()];
  const client = headgate('known')({
    scenario,
    clock: new ManualClock(),
    random: () => 0.5,
    concurrency: 1,
    send,
    lost,
    failed: lost,
  });
  client.handOver({ index: 0, tokens: MOST_TOKENS });
  expect([send.mock.calls.length, lost.mock.calls.length]).toEqual([1, 0]);
});
