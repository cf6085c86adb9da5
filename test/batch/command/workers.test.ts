import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { describe, expect, it, type TestContext } from 'vitest';
import { PROTOCOL } from '../../../src/fleet/protocol.ts';
import { SCRIPT } from '../../../src/redis/script.ts';
import { canRun } from '../../dashboards/programs.ts';
import { startProxy } from '../../fleet/processes/proxy.ts';
import type { Running } from '../../support/child-process.ts';
import { startRedis } from '../../support/redis.ts';
import { type Rig, rig, start } from './command.ts';

// Real time: workers, the run and Redis are processes of their own.

const LINES = 160;
/** The number of the arrival that gets a 429. */
const REJECTED = 40;
/** The time limit. It only ends a hang: a busy machine needs seconds to start a process. */
const BOUND_MS = 600_000;
const TELL_MS = 60_000;
/** The length of output that errors quote, in characters. */
const SAID = 1_000;

function prompts(rigged: Rig, count = LINES): void {
  const lines = Array.from({ length: count }, (_, n) => ({
    custom_id: `r-${n}`,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: `prompt ${n}` }] },
  }));
  rigged.write('in.jsonl', lines);
}

function startWorker(
  test: TestContext,
  { server }: Rig,
  url: string,
  more: string[] = [],
): Running {
  return start(test, ['work', '--redis', url, '--base-url', server.url, ...more]);
}

function startSplit(test: TestContext, { folder }: Rig, url: string, more: string[] = []): Running {
  const args = ['run', 'in.jsonl', '--out', 'out.jsonl', '--model', 'm', '--redis', url, '--json'];
  return start(test, [...args, ...more], { cwd: folder });
}

/** The most that arrived in any window of a length. */
function mostWithin(arrivals: readonly number[], windowMs: number): number {
  let most = 0;
  let first = 0;
  arrivals.forEach((at, index) => {
    while (at - (arrivals[first] as number) >= windowMs) first += 1;
    most = Math.max(most, index + 1 - first);
  });
  return most;
}

/** How many results are written. The lines are counted, not parsed. */
function written(rigged: Rig): number {
  try {
    return readFileSync(rigged.path('out.jsonl'), 'latin1').split('\n').length - 1;
  } catch {
    // There is no file yet.
    return 0;
  }
}

/** Resolves when this number of results is written, or when the run has ended. */
async function reached(rigged: Rig, run: Running, results: number): Promise<void> {
  const isOn = () => run.process.exitCode === null && run.process.signalCode === null;
  while (written(rigged) < results && isOn()) await sleep(30);
  expect(written(rigged), `the run said: ${run.stderr()}`).toBeGreaterThanOrEqual(results);
}

/** Prints every minute what the test waits for, so that a hang can be located. */
async function awaited<T>(
  what: string,
  promise: Promise<T>,
  rigged: Rig,
  processes: readonly Running[],
): Promise<T> {
  const timer = setInterval(() => {
    const said = processes.map(({ stderr }) => stderr().slice(-SAID)).join('\n--\n');
    console.log(`still waits for ${what}, with ${written(rigged)} results; they say:\n${said}`);
  }, TELL_MS);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}

/** The longest time between two arrivals. */
function longestGap(arrivals: readonly number[]): number {
  return Math.max(...arrivals.slice(1).map((at, index) => at - (arrivals[index] as number)));
}

function idsOf(rigged: Rig): readonly string[] {
  return rigged.results().map(({ custom_id }) => custom_id);
}

/** The same command again ends with one result for each prompt, and none was sent twice. */
async function completes(test: TestContext, rigged: Rig, url: string, lines: number) {
  const run = startSplit(test, rigged, url);
  expect((await awaited('the end of the next run', run.ended, rigged, [run])).code).toBe(0);
  expect(idsOf(rigged)).toHaveLength(lines);
  expect(new Set(idsOf(rigged)).size).toBe(lines);
  for (const [prompt, times] of rigged.server.counts) expect(times, prompt).toBe(1);
}

describe.runIf(canRun('redis-server'))('a batch that workers send', { timeout: BOUND_MS }, () => {
  it('keeps every limit and has every id once, though a worker is killed and Redis loses its data', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const arrivals: number[] = [];
    const rigged = await rig(test, {
      delayMs: () => 40,
      handle: () => {
        arrivals.push(performance.now());
        return undefined;
      },
    });
    prompts(rigged);
    // The worker's own limit is lower than that of the run.
    const workers = [1, 2, 3].map(() => startWorker(test, rigged, redis.url, ['--rpm', '60']));
    const run = startSplit(test, rigged, redis.url, ['--rpm', '3000', '--concurrency', '12']);
    await reached(rigged, run, LINES / 5);
    workers[0]?.process.kill('SIGKILL');
    await reached(rigged, run, LINES / 2);
    // It stores nothing, so all waiting jobs are lost.
    await redis.kill();
    await sleep(500);
    await redis.restart();
    const ended = awaited('the end of the run', run.ended, rigged, [run, ...workers]);
    const { code, stdout, stderr } = await ended;
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ ok: LINES });
    expect([...idsOf(rigged)].sort()).toEqual(
      Array.from({ length: LINES }, (_, n) => `r-${n}`).sort(),
    );
    expect(rigged.server.mostInFlight()).toBeLessThanOrEqual(12);
    // At once goes a hundredth of the limit, and the rest evenly: so no minute sees more.
    for (const windowMs of [1_000, 2_000]) {
      const limit = 30 + (3_000 * windowMs) / 60_000;
      expect(mostWithin(arrivals, windowMs), `${windowMs} ms`).toBeLessThanOrEqual(limit * 1.01);
    }
    for (const worker of workers.slice(1)) {
      worker.process.kill('SIGTERM');
      const stopped = awaited('the end of a worker', worker.ended, rigged, [worker]);
      expect((await stopped).code).toBe(0);
    }
  });

  it('waits after a 429 to one of its workers', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const arrivals: number[] = [];
    const rigged = await rig(test, {
      delayMs: () => 20,
      handle: () => {
        arrivals.push(performance.now());
        if (arrivals.length !== REJECTED) return undefined;
        return { status: 429, headers: { 'retry-after': '4' }, body: { error: { message: 'no' } } };
      },
    });
    prompts(rigged, 120);
    for (const _ of [1, 2]) startWorker(test, rigged, redis.url);
    const run = startSplit(test, rigged, redis.url, ['--rpm', '1200']);
    expect((await run.ended).code).toBe(0);
    expect(new Set(idsOf(rigged)).size).toBe(120);
    // The workers are told of the 4 s a little later, and each may have sent something until then.
    expect(longestGap(arrivals.slice(REJECTED - 1))).toBeGreaterThan(2_000);
  });

  it('continues after its own kill -9, and sends no request twice that workers have answered', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const rigged = await rig(test, { delayMs: () => 40 });
    prompts(rigged);
    startWorker(test, rigged, redis.url, ['--concurrency', '20']);
    const first = startSplit(test, rigged, redis.url);
    await reached(rigged, first, LINES / 4);
    first.process.kill('SIGKILL');
    await first.ended;
    await completes(test, rigged, redis.url, LINES);
  });

  it('lets workers start nothing more after a signal, and leaves them to other runs', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    let arrived = 0;
    const rigged = await rig(test, {
      delayMs: () => 200,
      handle: () => {
        arrived += 1;
        return undefined;
      },
    });
    prompts(rigged);
    startWorker(test, rigged, redis.url, ['--concurrency', '5']);
    const run = startSplit(test, rigged, redis.url);
    await reached(rigged, run, 20);
    run.process.kill('SIGINT');
    const arrivedBefore = arrived;
    const { code, stdout } = await awaited('the end of the run', run.ended, rigged, [run]);
    expect(code).toBe(130);
    // Those that the worker had, and those that began until the signal came. In the 10 s that the run
    // would wait, all the others would be sent.
    expect(arrived - arrivedBefore).toBeLessThanOrEqual(60);
    const report = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
    expect(report).toMatchObject({ ok: arrived, left: LINES - arrived, attempts: arrived });
    await completes(test, rigged, redis.url, LINES);
  });

  it('takes the answers that come after a second signal in the next run', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const rigged = await rig(test, { delayMs: () => 400 });
    prompts(rigged, 60);
    startWorker(test, rigged, redis.url, ['--concurrency', '8']);
    const run = startSplit(test, rigged, redis.url);
    await reached(rigged, run, 16);
    run.process.kill('SIGINT');
    await sleep(50);
    run.process.kill('SIGINT');
    expect((await awaited('the end of the run', run.ended, rigged, [run])).code).toBe(130);
    await completes(test, rigged, redis.url, 60);
  });

  it('says that there is no worker, and then how many requests workers have', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const rigged = await rig(test, { delayMs: () => 1_000 });
    prompts(rigged, 40);
    const args = ['run', 'in.jsonl', '--out', 'out.jsonl', '--model', 'm', '--redis', redis.url];
    const run = start(test, args, { cwd: rigged.folder });
    const saying = async (words: RegExp) => {
      while (!words.test(run.stderr()) && run.process.exitCode === null) await sleep(50);
      expect(run.stderr()).toMatch(words);
    };
    await saying(/40 in the queue, 0 at work. There is no worker: start headgate work\n/);
    startWorker(test, rigged, redis.url, ['--concurrency', '4']);
    await saying(/Waiting for workers: [1-9]\d* in the queue, [1-9] at work\n/);
    const { stdout } = await awaited('the end of the run', run.ended, rigged, [run]);
    expect(stdout).toMatch(/429s +0 of 40 calls/);
  });

  it('ends with its workers at a signal while Redis is unreachable', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const rigged = await rig(test, { delayMs: () => 30 });
    prompts(rigged);
    const worker = startWorker(test, rigged, redis.url, ['--concurrency', '5']);
    const run = startSplit(test, rigged, redis.url);
    await reached(rigged, run, 20);
    await redis.kill();
    await sleep(500);
    for (const { process } of [run, worker]) process.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    expect((await worker.ended).code).toBe(0);
    expect(new Set(idsOf(rigged)).size).toBe(idsOf(rigged).length);
  });

  it('ends, though Redis answers too late for the run to tidy up', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const proxy = await startProxy(redis.port);
    test.onTestFinished(() => proxy.stop());
    const rigged = await rig(test, {
      handle: () => {
        proxy.delayMs = 1_500;
        return undefined;
      },
    });
    prompts(rigged, 5);
    startWorker(test, rigged, redis.url);
    const run = startSplit(test, rigged, `redis://127.0.0.1:${proxy.port}`);
    const ended = await awaited('the end of the run', run.ended, rigged, [run]);
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    expect(idsOf(rigged)).toHaveLength(5);
  });

  it('keeps the API’s errors of failed requests', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const rigged = await rig(test, {
      handle: (prompt) =>
        prompt === 'prompt 1'
          ? { status: 400, body: { error: { message: 'too long', code: 'too_long' } } }
          : undefined,
    });
    prompts(rigged, 3);
    startWorker(test, rigged, redis.url);
    const { code } = await startSplit(test, rigged, redis.url).ended;
    expect(code).toBe(1);
    const failed = rigged.results().find(({ custom_id }) => custom_id === 'r-1');
    expect(failed).toMatchObject({
      error: { code: '400 too_long', message: 'too long' },
      response: { status_code: 400 },
      headgate: { attempts: 1 },
    });
  });

  it('is refused by run and worker if Redis has no such database', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const rigged = await rig(test);
    prompts(rigged, 1);
    const url = `${redis.url}/99`;
    for (const started of [startWorker(test, rigged, url), startSplit(test, rigged, url)]) {
      const { code, stderr } = await started.ended;
      const place = `--redis 127.0.0.1:${redis.port}`;
      expect([code, stderr]).toEqual([2, `headgate: ${place}: ERR DB index is out of range\n`]);
    }
  });

  it('waits if Redis accepts no more requests, and stops if it never accepted any', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const rigged = await rig(test);
    // More requests than the run keeps in the queue.
    prompts(rigged, 1_500);
    const admin = createClient({ url: redis.url });
    await admin.connect();
    test.onTestFinished(() => admin.destroy());
    const worker = startWorker(test, rigged, redis.url, ['--concurrency', '20']);
    const run = startSplit(test, rigged, redis.url, ['--rpm', '30000']);
    await reached(rigged, run, 50);
    await admin.configSet('maxmemory', '1');
    await sleep(2_000);
    await admin.configSet('maxmemory', '0');
    const { code } = await awaited('the end of the run', run.ended, rigged, [run, worker]);
    expect(code).toBe(0);
    expect(new Set(idsOf(rigged)).size).toBe(1_500);
    await admin.configSet('maxmemory', '1');
    const args = ['run', 'in.jsonl', '--out', 'none.jsonl', '--model', 'm', '--redis', redis.url];
    const none = await start(test, args, { cwd: rigged.folder }).ended;
    expect(none).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('Redis takes no requests: OOM command not allowed'),
    });
    expect(readFileSync(rigged.path('none.jsonl'), 'utf8')).toBe('');
  });

  it('stops if the quota of a worker is used up, and writes no line as failed', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    let arrived = 0;
    const error = { code: 'insufficient_quota', message: 'You exceeded your current quota' };
    const rigged = await rig(test, {
      handle: () => {
        arrived += 1;
        return arrived <= 20 ? undefined : { status: 429, body: { error } };
      },
    });
    prompts(rigged);
    startWorker(test, rigged, redis.url, ['--concurrency', '5']);
    const { code, stdout } = await startSplit(test, rigged, redis.url).ended;
    const report = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
    expect([code, report]).toMatchObject([1, { failed: 0, stop: { reason: 'refused' } }]);
    for (const result of rigged.results()) expect(result).toMatchObject({ error: null });
  });

  it('loses no line to a worker that is too old for the others', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const rigged = await rig(test, { delayMs: () => 40 });
    prompts(rigged);
    const old = startWorker(test, rigged, redis.url, ['--concurrency', '5']);
    const run = startSplit(test, rigged, redis.url);
    await reached(rigged, run, 20);
    const admin = createClient({ url: redis.url });
    await admin.connect();
    test.onTestFinished(() => admin.destroy());
    const [state = ''] = await admin.keys('*:headgate:state');
    const parts = ['state', 'workers', 'leases', 'active', 'reports', 'learned'];
    const keys = parts.map((part) => state.replace(/state$/, part));
    const later = { protocol: PROTOCOL + 1, worker: 'later', sequence: 1, run: 0, epoch: 0 };
    await admin.eval(SCRIPT, { keys, arguments: [JSON.stringify([later, '', '', '', ''])] });
    const { code, stderr } = await awaited('the end of the worker', old.ended, rigged, [old]);
    expect(code).toBe(1);
    expect(stderr).toContain('update headgate here');
    await admin.del(keys);
    startWorker(test, rigged, redis.url);
    expect((await awaited('the end of the run', run.ended, rigged, [run])).code).toBe(0);
    expect(new Set(idsOf(rigged)).size).toBe(LINES);
  });

  it('ends, though Redis has lost a part of the queue', async (test) => {
    const redis = await startRedis();
    test.onTestFinished(() => redis.stop());
    const rigged = await rig(test);
    prompts(rigged, 20);
    const run = startSplit(test, rigged, redis.url);
    const admin = createClient({ url: redis.url });
    await admin.connect();
    test.onTestFinished(() => admin.destroy());
    while ((await admin.lLen('bull:headgate:wait')) < 20) await sleep(20);
    await admin.del('bull:headgate:wait');
    startWorker(test, rigged, redis.url);
    expect((await awaited('the end of the run', run.ended, rigged, [run])).code).toBe(0);
    expect(new Set(idsOf(rigged)).size).toBe(20);
  });
});
