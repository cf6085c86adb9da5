/** Runs one client in one scenario in virtual time: for a given time, or until the last answer. */
import { seededRandom } from 'headgate/simulator';
import { Cell, type CellRun, streamSeed } from './cell.ts';
import type { Client } from './client.ts';
import type { Scenario } from './scenario.ts';
import { globalTime, manualTime, type VirtualTime } from './virtual-time.ts';

/** The time in which a client finished all its prompts. */
export interface FinishRun {
  /** From the start to the last answer, in milliseconds; undefined: not finished in time. */
  readonly finishedMs: number | undefined;
  readonly successes: number;
  readonly rejected: number;
}

/** The longest run. A slower client counts as not finished. */
const MOST_TO_FINISH_MS = 3_600_000;
/** The interval at which a run checks whether it has finished. */
const LOOK_MS = 1000;

/** @throws the error that the client throws when it gets a prompt or a timer fires */
export function runCell(scenario: Scenario, client: Client, seed: number): Promise<CellRun> {
  return inCell(scenario, client, seed, undefined, async (cell, time) => {
    // Do not count the window that begins at the end.
    await time.runUntil(scenario.seconds * 1000 - 1);
    return cell.result();
  });
}

/** Submits the backlog, without further prompts. @throws as `runCell` does */
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
