/** headgate: several limiters, as of several processes, that share the provider through a store. */
import type { Clock } from 'headgate';
import { memoryStore, type SharedStore } from 'headgate/advanced';
import { seededRandom } from 'headgate/simulator';
import type { ClientContext, RunningClient } from '../client.ts';
import { headgate } from './headgate.ts';

const FEWEST = 2;
const MOST = 8;
/** The way to the store and back, in ms: from Redis beside the workers to Redis far away. */
const SHORTEST_CALL_MS = 0.5;
const LONGEST_CALL_MS = 50;

/** The number of workers and the time of their calls are drawn with the provider's seed. */
export function headgateFleet(context: ClientContext): RunningClient {
  const { scenario, clock } = context;
  const random = seededRandom(scenario.seed * 41 + 11);
  const workers = FEWEST + Math.floor((MOST - FEWEST + 1) * random());
  const callMs = SHORTEST_CALL_MS * (LONGEST_CALL_MS / SHORTEST_CALL_MS) ** random();
  const store = farStore(memoryStore({ clock }), clock, callMs);
  const start = headgate('defaults');
  const fleet = Array.from({ length: workers }, () => start(context, store));
  return {
    handOver: (request) => fleet[request.index % workers]?.handOver(request),
    snapshot: () => fleet[0]?.snapshot?.(),
  };
}

/** A store whose calls take time. */
function farStore(store: SharedStore, clock: Clock, callMs: number): SharedStore {
  const passed = () => new Promise<void>((resolve) => clock.setTimer(resolve, callMs / 2));
  return {
    ...store,
    exchange: async (request) => {
      await passed();
      const reply = await store.exchange(request);
      await passed();
      return reply;
    },
  };
}
