import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it, vi } from 'vitest';
import { OutputLock } from '../../../src/batch/ledger/lock.ts';
import { ownerText, readLock } from '../../../src/batch/ledger/lock-owner.ts';
import { dropLock, HeldError, takeLock } from '../../../src/batch/ledger/take-lock.ts';
import { batchRig, prompts } from '../rig.ts';

const folder = mkdtempSync(join(tmpdir(), 'headgate-lock-'));
const lock = join(folder, 'out.lock');
const dead = () => JSON.stringify({ pid: '4194999', host: hostname(), started: '1' });

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A process that takes the lock step by step, and gives it back. */
class Taker {
  state: 'takes' | 'holds' | 'ended' = 'takes';
  readonly #owner: string;
  readonly #steps: Generator<void, void>;

  constructor(owner: string) {
    this.#owner = owner;
    this.#steps = takeLock(lock, owner);
  }

  step(givesBack: boolean): void {
    if (this.state === 'holds' && givesBack) {
      dropLock(lock, this.#owner);
      this.state = 'ended';
    }
    if (this.state !== 'takes') return;
    try {
      if (this.#steps.next().done) this.state = 'holds';
    } catch (error) {
      if (!(error instanceof HeldError)) throw error;
      this.state = 'ended';
    }
  }
}

it('is never held by two runs, in any order of their steps', () => {
  const begins = fc.constantFrom('nothing', 'dead', 'empty');
  const order = fc.array(fc.nat(3), { minLength: 60, maxLength: 120 });
  const property = fc.property(begins, order, fc.boolean(), (begin, steps, givesBack) => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    if (begin !== 'nothing') writeFileSync(lock, begin === 'dead' ? dead() : '{}');
    const takers = Array.from({ length: 4 }, () => new Taker(ownerText()));
    for (const index of steps) {
      takers[index]?.step(givesBack);
      expect(takers.filter(({ state }) => state === 'holds').length).toBeLessThanOrEqual(1);
    }
    while (takers.some(({ state }) => state === 'takes')) {
      for (const taker of takers) taker.step(givesBack);
      expect(takers.filter(({ state }) => state === 'holds').length).toBeLessThanOrEqual(1);
    }
    const holders = takers.filter(({ state }) => state === 'holds').length;
    if (!givesBack) expect(holders).toBe(1);
    // No temporary file is left.
    expect(readdirSync(folder)).toEqual(holders === 1 ? ['out.lock'] : []);
  });
  fc.assert(property, { numRuns: 400 });
});

it('is taken over if a run died at any step of taking over a lock', () => {
  for (let died = 1; died < 12; died += 1) {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    writeFileSync(lock, dead());
    const dying = takeLock(lock, dead());
    for (let step = 0; step < died; step += 1) dying.next();
    // What it has written by then says that its process is gone.
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if (readLock(file)?.holder !== undefined) writeFileSync(file, `${dead()} ${name}`);
    }
    const owner = ownerText();
    for (const _step of takeLock(lock, owner));
    expect(readLock(lock)?.text).toBe(owner);
  }
});

it.runIf(process.platform === 'linux')(
  'is taken over from a killed run whose parent has not noticed its end',
  async (test) => {
    // The shell starts a process that soon ends, and becomes a program that never waits for it.
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60']);
    test.onTestFinished(() => void parent.kill());
    const [output] = await once(parent.stdout, 'data');
    const pid = String(output).trim();
    const stat = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
    await vi.waitFor(() => expect(stat()[2]).toBe('Z'), 10_000);
    writeFileSync(lock, JSON.stringify({ pid, host: hostname(), started: stat()[21] }));
    expect(readLock(lock)).toMatchObject({ holder: undefined });
  },
);

it('belongs to the file, not to its name', async (test) => {
  const rig = await batchRig(test);
  symlinkSync(rig.path('out.jsonl'), rig.path('link'));
  symlinkSync(rig.folder, rig.path('folder'));
  // The file is not there yet, and then it is.
  for (const content of [undefined, '']) {
    if (content !== undefined) rig.write('out.jsonl', content);
    const held = new OutputLock(rig.path('out.jsonl'));
    for (const name of ['link', 'folder/out.jsonl', 'folder/link', 'out.jsonl']) {
      expect(() => new OutputLock(rig.path(name)), name).toThrow(`by process ${process.pid}`);
    }
    held.release();
    const other = new OutputLock(rig.path('folder/link'));
    expect(() => new OutputLock(rig.path('out.jsonl'))).toThrow('is being written by');
    other.release();
  }
});

it('that another run has taken over ends this run, and stays with the other', async (test) => {
  const rig = await batchRig(test, () => new Promise(() => {}));
  rig.write('in.jsonl', prompts(2));
  const run = rig.run({ drainMs: 0 });
  while (rig.sent.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  rig.write('out.jsonl.lock', dead());
  expect((await run).stop).toMatchObject({ reason: 'output' });
  expect(rig.read('out.jsonl.lock')).toBe(dead());
});

it('that is empty counts for a while as the lock of a run that has just begun', async (test) => {
  const rig = await batchRig(test);
  rig.write('out.jsonl.lock', '');
  expect(() => new OutputLock(rig.path('out.jsonl'))).toThrow('by a run that has just begun');
});
