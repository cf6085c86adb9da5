/** Runs one client in one scenario once, in virtual time: for so long, or to the last answer. */
import { seededRandom } from 'headgate/simulator';
import { Cell, type CellRun, streamSeed } from './cell.ts';
import type { Client } from './client.ts';
import type { Scenario } from './scenario.ts';
import { globalTime, manualTime, type VirtualTime } from './virtual-time.ts';

/** How long a client took over all its prompts. */
export interface FinishRun {
  /** From the start to the last answer, in milliseconds; undefined: it was not there in time. */
  readonly finishedMs: number | undefined;
  readonly successes: number;
  readonly rejected: number;
}

/** A client that needs longer than this is not waited for. */
const MOST_TO_FINISH_MS = 3_600_000;
/** How often a run looks whether it has finished. */
const LOOK_MS = 1000;

/** @throws what the client throws while it is handed prompts, or while its timers fire */
export function runCell(scenario: Scenario, client: Client, seed: number): Promise<CellRun> {
  return inCell(scenario, client, seed, undefined, async (cell, time) => {
    // The window that opens at the very end does not count.
    await time.runUntil(scenario.seconds * 1000 - 1);
    return cell.result();
  });
}

/** Hands over the backlog, and no more. @throws as `runCell` does */
export function runToFinish(scenario: Scenario, client: Client, seed: number): Promise<FinishRun> {
  return inCell(scenario, client, seed, scenario.backlog, async (cell, time) => {
    for (let atMs = 0; !cell.isFinished && atMs < MOST_TO_FINISH_MS; atMs += LOOK_MS) {
      await time.runUntil(atMs);
    }
    const { successes, rejected } = cell.result();
    return { finishedMs: cell.isFinished ? cell.lastAnswerMs : undefined, successes, rejected };
  });
}

async function inCell<R>(
  scenario: Scenario,
  client: Client,
  seed: number,
  supply: number | undefined,
  use: (cell: Cell, time: VirtualTime) => Promise<R>,
): Promise<R> {
  const start = await client.load();
  const time = client.usesGlobals
    ? globalTime(seededRandom(streamSeed(seed, 'client')))
    : manualTime();
  try {
    const cell = new Cell(scenario, client, seed, time, supply);
    for (let worker = 0; worker < scenario.workers; worker++) cell.open(start, worker);
    return await use(cell, time);
  } finally {
    time.end();
  }
}
