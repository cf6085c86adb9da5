import { expect, it, type TestContext } from 'vitest';
import { seededRandom } from '../../../src/simulator/random.ts';
import { isLong } from '../../support/runs.ts';
import { rig } from './command.ts';
import { prompts } from './files.ts';

const LINES = 1_200;
const CONCURRENCY = 16;
/** The duration of calls, so long that the run outlasts its kills. */
const CALL_MS = 120;
/** A process is killed within this time after its first call, or, one in four, after its start. */
const KILL_WITHIN_MS = 600;
/**
 * The time limit for each kill. It only ends a hang: a busy machine needs seconds to start a
 * process.
 */
const BOUND_MS = 600_000;

/** Kills a run again and again, at random moments, and then lets it end. */
async function killed(test: TestContext, kills: number, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const { write, startRun, run, results, server } = await rig(test, {
    delayMs: () => CALL_MS * (0.5 + random()),
  });
  write('in.jsonl', prompts(LINES));
  const args = ['in.jsonl', '--out', 'out.jsonl', '--concurrency', String(CONCURRENCY), '--quiet'];
  for (let kill = 0; kill < kills; kill += 1) {
    const { process: child, ended } = startRun(args);
    if (kill % 4 !== 0) await Promise.race([server.nextCall(), ended]);
    const timer = setTimeout(() => child.kill('SIGKILL'), random() * KILL_WITHIN_MS);
    await ended;
    clearTimeout(timer);
  }
  const last = await run(args);
  expect(last.code, last.stderr).toBe(0);
  // Each request has one result, the right one.
  const lines = results();
  const ids = new Map(lines.map((line) => [line.custom_id, line]));
  expect([lines.length, ids.size]).toEqual([LINES, LINES]);
  for (const { id, prompt } of prompts(LINES)) {
    const body = ids.get(id)?.response?.body;
    expect(body).toMatchObject({ choices: [{ message: { content: prompt.toUpperCase() } }] });
  }
  // Only requests in flight at a kill were sent twice.
  const calls = [...server.counts.values()].reduce((sum, count) => sum + count, 0);
  expect(calls - LINES).toBeLessThanOrEqual(kills * CONCURRENCY);
  console.log(`${kills} kills: ${lines.length} results, ${calls - LINES} calls repeated`);
}

it(
  'a run that is killed 10 times loses nothing, and repeats only what was in flight',
  (test) => killed(test, 10, 1),
  BOUND_MS,
);

it.runIf(isLong)(
  'a run that is killed 200 times loses nothing either',
  (test) => killed(test, 200, 2),
  1_800_000,
);
