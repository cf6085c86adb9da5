import { performer } from './actions.ts';
import { checkEnd, heal, Rest } from './laws.ts';
import type { Setup, Step } from './setup.ts';
import { tapTickets } from './tap.ts';
import { World } from './world.ts';

export interface Script {
  readonly setup: Setup;
  readonly steps: readonly Step[];
}

/** Plays a script to its end. Returns the laws that were broken; throws as soon as one is. */
export async function play({ setup, steps }: Script): Promise<void> {
  const world = new World(setup);
  const { clock, traps, warden } = world;
  const rest = new Rest(world);
  const untap = tapTickets(warden);
  const look = () => {
    if (warden.faults.length > 0) throw new Error(warden.faults.join('\n'));
  };
  world.perform = performer(world);
  try {
    world.subscribe();
    for (const { action, trap, after, pauseMs } of steps) {
      if (trap === undefined) world.perform(action);
      else traps.set(trap, [...(traps.get(trap) ?? []), action]);
      if (after === 'on') continue;
      const nextMs = (clock.nextTimerMs ?? clock.now()) - clock.now();
      if (typeof after === 'number') await clock.advanceAsync(after + pauseMs);
      else if (after === 'next') await clock.advanceAsync(nextMs);
      else await clock.advanceAsync(after === 'before' ? Math.max(0, nextMs - 0.5) : 0);
      rest.check();
      look();
    }
    await clock.advanceAsync(0);
    rest.check();
    look();
    if (setup.ending === 'leave') {
      for (const stream of world.streams) stream.leave();
      for (const { req, controller } of world.aborts) {
        if (req.waits || req.via === 'run') req.isGone = true;
        controller.abort();
      }
      await clock.advanceAsync(0);
      rest.check();
      look();
    }
    await heal(world);
    look();
    rest.check();
    await checkEnd(world);
    look();
  } finally {
    untap();
  }
}
