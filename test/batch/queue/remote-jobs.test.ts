import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NotSentError } from '../../../src/batch/attempts.ts';
import { QueueCalls } from '../../../src/batch/queue/queue-calls.ts';
import { QueueError, WorkerError } from '../../../src/batch/queue/queue-job.ts';
import { RemoteJobs, type ReusedAnswers } from '../../../src/batch/queue/remote-jobs.ts';
import type { BatchRequest } from '../../../src/batch/request.ts';

/** How often lost jobs and missed answers are looked for, in ms. */
const LOOK_MS = 2_000;

const SENT = { attempts: 1, rejected: 0, waitedMs: 0, durationMs: 5 };
const REFUSED = { response: { statusCode: 400, body: { error: 'wrong' } }, sent: SENT };
/** When the run and an earlier one began, in ms. */
const [EARLIER_AT, RUN_AT] = [1, 2];
const ANSWER = { response: { statusCode: 200, body: { text: 'yes' } }, sent: SENT };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Entry {
  state: string;
  returnvalue?: unknown;
  failedReason?: string;
  /** The run that added it. */
  data?: { readonly limits: { readonly at: number } };
}

/** The part of BullMQ's `Queue` that a run calls. */
class FakeQueue {
  /** How long each call takes. */
  latencyMs = 1;
  /** The number of calls so far. */
  calls = 0;
  readonly jobs = new Map<string, Entry>();
  /** The ids of all jobs that were ever added. */
  readonly added: string[] = [];
  workers = 1;
  /** The error that Redis answers `add` with. */
  refusal: string | undefined;

  async add(
    _name: string,
    data: Entry['data'],
    { jobId }: { readonly jobId: string },
  ): Promise<void> {
    await this.#call();
    if (this.refusal !== undefined) throw new Error(this.refusal);
    if (this.jobs.has(jobId)) return;
    this.jobs.set(jobId, { state: 'waiting', data });
    this.added.push(jobId);
  }

  async remove(jobId: string): Promise<void> {
    await this.#call();
    this.jobs.delete(jobId);
  }

  toKey(name: string): string {
    return name;
  }

  async lrem(list: string, _count: number, jobId: string): Promise<number> {
    await this.#call();
    if (list !== 'wait' || this.jobs.get(jobId)?.state !== 'waiting') return 0;
    this.jobs.set(jobId, { state: 'unknown' });
    return 1;
  }

  async getWorkersCount(): Promise<number> {
    await this.#call();
    return this.workers;
  }

  async getJobState(jobId: string): Promise<string> {
    await this.#call();
    return this.jobs.get(jobId)?.state ?? 'unknown';
  }

  async getJob(jobId: string): Promise<Entry | undefined> {
    await this.#call();
    const entry = this.jobs.get(jobId);
    return entry && { data: { limits: { at: RUN_AT } }, ...entry };
  }

  #call(): Promise<void> {
    this.calls += 1;
    return new Promise((resolve) => setTimeout(resolve, this.latencyMs));
  }
}

function rig(reused: ReusedAnswers = 'all') {
  const queue = new FakeQueue();
  const events = new EventEmitter();
  const calls = new QueueCalls(queue as never, queue as never);
  const jobs = new RemoteJobs(calls, events as never, { at: RUN_AT }, reused);
  const send = (id = 'r-1') => {
    const controller = new AbortController();
    const request: BatchRequest = { id, url: '/v1/x', body: { n: id }, place: id, hash: id };
    const again = () => jobs.send(request, { signal: controller.signal });
    const answer = again();
    const ended = answer.then(
      ({ body }) => body,
      (error: unknown) => error,
    );
    const abort = () => controller.abort(new Error('unwanted'));
    return { ended, abort, again, saved: () => jobs.forget([request]) };
  };
  return { queue, events, jobs, send };
}

describe('the jobs of a run', () => {
  it('end with the answers that events bring, and are kept until these are on disk', async () => {
    const { queue, events, send } = rig();
    const { ended, saved } = send();
    await vi.advanceTimersByTimeAsync(10);
    events.emit('completed', { jobId: queue.added[0], returnvalue: ANSWER });
    expect(await ended).toEqual({ text: 'yes' });
    await vi.advanceTimersByTimeAsync(5 * LOOK_MS);
    expect(queue.jobs.size).toBe(1);
    saved();
    await vi.advanceTimersByTimeAsync(LOOK_MS + 40);
    expect(queue.jobs.size).toBe(0);
    const { calls } = queue;
    await vi.advanceTimersByTimeAsync(10 * LOOK_MS);
    expect(queue.calls - calls).toBe(0);
  });

  const SENT = { attempts: 1, rejected: 0, waitedMs: 0, durationMs: 1 };
  it.each([
    null,
    [SENT],
    { sent: {} },
    { sent: { ...SENT, attempts: 'x' } },
    { sent: { ...SENT, waitedMs: -1 } },
    { sent: SENT, response: null },
    { sent: SENT, response: { statusCode: '200', body: {} } },
    { sent: SENT, response: { statusCode: 1e308, body: {} } },
    { sent: SENT, error: 5 },
    { sent: SENT, error: { code: {}, message: [] } },
  ])('fail if a worker gives no result: %j', async (value) => {
    const { queue, events, send } = rig();
    const { ended } = send();
    await vi.advanceTimersByTimeAsync(10);
    events.emit('completed', { jobId: queue.added[0], returnvalue: JSON.stringify(value) });
    expect(await ended).toEqual(new WorkerError('a worker gave no result', 'error'));
  });

  it('are found by the next look if their events were missed', async () => {
    const { queue, send } = rig();
    const [answered, failed] = [send('r-1'), send('r-2')];
    await vi.advanceTimersByTimeAsync(10);
    const [first, second] = queue.added as [string, string];
    queue.jobs.set(first, { state: 'completed', returnvalue: ANSWER });
    queue.jobs.set(second, { state: 'failed', failedReason: 'stalled' });
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    expect(await answered.ended).toEqual({ text: 'yes' });
    expect(await failed.ended).toEqual(new WorkerError('stalled', 'worker'));
  });

  it('are looked for by one look at a time, however slow Redis is', async () => {
    const { queue, send } = rig();
    send();
    await vi.advanceTimersByTimeAsync(10);
    queue.latencyMs = 4 * LOOK_MS;
    const { calls } = queue;
    await vi.advanceTimersByTimeAsync(4 * LOOK_MS);
    expect(queue.calls - calls).toBe(1);
  });

  it.each<[string, ReusedAnswers, number, readonly string[]]>([
    ['end as they have ended in another run', 'all', EARLIER_AT, []],
    [
      'are added again where they failed, for a run that retries them',
      'good',
      EARLIER_AT,
      ['r-1', 'r-2'],
    ],
    ['are added again for a run that replaces results', 'none', EARLIER_AT, ['r-1', 'r-2', 'r-3']],
    ['end as they have ended if they are of this run', 'none', RUN_AT, []],
  ])('that have ended %s', async (_, reused, at, again) => {
    const { queue, send } = rig(reused);
    const sent = ['r-1', 'r-2', 'r-3'].map((id) => send(id));
    await vi.advanceTimersByTimeAsync(10);
    const jobIds = [...queue.added] as [string, string, string];
    const data = { limits: { at } };
    queue.jobs.set(jobIds[0], { state: 'completed', returnvalue: REFUSED, data });
    queue.jobs.set(jobIds[1], { state: 'failed', failedReason: 'stalled', data });
    queue.jobs.set(jobIds[2], { state: 'completed', returnvalue: ANSWER, data });
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    const states = jobIds.map((jobId) => queue.jobs.get(jobId)?.state);
    expect(['r-1', 'r-2', 'r-3'].filter((_id, n) => states[n] === 'waiting')).toEqual(again);
    const ends = [{ error: 'wrong' }, new WorkerError('stalled', 'worker'), { text: 'yes' }];
    for (const [n, { ended }] of sent.entries()) {
      if (states[n] !== 'waiting') expect(await ended).toEqual(ends[n]);
    }
  });

  it('are added again if Redis has lost them', async () => {
    const { queue, send } = rig();
    send();
    await vi.advanceTimersByTimeAsync(10);
    queue.jobs.clear();
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    expect(queue.jobs.size).toBe(1);
    expect(new Set(queue.added).size).toBe(1);
  });

  it.each([0, 1, 2, 3])(
    'do not come back if their request is aborted %d ms after a look began to add them again',
    async (ms) => {
      const { queue, send } = rig();
      const { ended, abort } = send();
      await vi.advanceTimersByTimeAsync(10);
      queue.jobs.clear();
      await vi.advanceTimersByTimeAsync(LOOK_MS - 10 + ms);
      abort();
      expect(await ended).toEqual(new Error('unwanted'));
      await vi.advanceTimersByTimeAsync(10 * LOOK_MS);
      expect(queue.jobs.size).toBe(0);
    },
  );

  it('are not added for a request that was aborted before', async () => {
    const { queue, jobs } = rig();
    const signal = AbortSignal.abort(new Error('unwanted'));
    const request: BatchRequest = { id: 'r', url: '/v1/x', body: {}, place: 'r', hash: 'r' };
    const answer = expect(jobs.send(request, { signal })).rejects.toThrow('unwanted');
    await vi.advanceTimersByTimeAsync(2 * LOOK_MS);
    expect(queue.added).toEqual([]);
    await answer;
  });

  it('leave the queue when the run stops, except for those that workers have', async () => {
    const { queue, events, jobs, send } = rig();
    const [active, waiting] = [send('r-1'), send('r-2')];
    await vi.advanceTimersByTimeAsync(10);
    const [first, second] = queue.added as [string, string];
    queue.jobs.set(first, { state: 'active' });
    jobs.withdraw();
    await vi.advanceTimersByTimeAsync(10);
    expect(await waiting.ended).toBeInstanceOf(NotSentError);
    expect([queue.jobs.has(first), queue.jobs.has(second)]).toEqual([true, false]);
    events.emit('completed', { jobId: first, returnvalue: ANSWER });
    expect(await active.ended).toEqual({ text: 'yes' });
    expect(await send('r-3').ended).toBeInstanceOf(NotSentError);
    expect(queue.added).toEqual([first, second]);
  });

  it('leave the queue though they were being added when the run stopped', async () => {
    const { queue, jobs, send } = rig();
    queue.latencyMs = 5;
    const { ended } = send();
    await vi.advanceTimersByTimeAsync(2);
    queue.latencyMs = 1;
    jobs.withdraw();
    await vi.advanceTimersByTimeAsync(10);
    expect(await ended).toBeInstanceOf(NotSentError);
    expect([queue.added.length, queue.jobs.size]).toEqual([1, 0]);
  });

  it('have left the queue when the run closes it', async () => {
    const { queue, jobs, send } = rig();
    const { ended } = send();
    await vi.advanceTimersByTimeAsync(10);
    jobs.withdraw();
    let left = -1;
    const closed = jobs.close().then(() => {
      left = queue.jobs.size;
    });
    await vi.advanceTimersByTimeAsync(10);
    await closed;
    expect(left).toBe(0);
    expect(await ended).toBeInstanceOf(NotSentError);
  });

  it('leave the queue when a worker gives them back after the stop', async () => {
    const { queue, jobs, send } = rig();
    const { ended } = send();
    await vi.advanceTimersByTimeAsync(10);
    const [jobId = ''] = queue.added;
    queue.jobs.set(jobId, { state: 'active' });
    jobs.withdraw();
    await vi.advanceTimersByTimeAsync(10);
    queue.jobs.set(jobId, { state: 'waiting' });
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    expect(await ended).toBeInstanceOf(NotSentError);
    expect(queue.jobs.size).toBe(0);
  });

  it.each(['active', 'completed'])('stay if they are %s when they are aborted', async (state) => {
    const { queue, jobs, send } = rig();
    const { ended, abort } = send();
    await vi.advanceTimersByTimeAsync(10);
    const [jobId = ''] = queue.added;
    queue.jobs.set(jobId, { state, returnvalue: ANSWER });
    jobs.withdraw();
    abort();
    expect(await ended).toEqual(new Error('unwanted'));
    const closed = jobs.close();
    await vi.advanceTimersByTimeAsync(10);
    await closed;
    expect(queue.jobs.has(jobId)).toBe(true);
  });

  it('fail if Redis takes none at all', async () => {
    const { queue, send } = rig();
    queue.refusal = 'CROSSSLOT Keys in request do not hash to the same slot';
    const { ended } = send();
    await vi.advanceTimersByTimeAsync(10);
    const error = await ended;
    expect(error).toBeInstanceOf(QueueError);
    expect(error).toMatchObject({ message: expect.stringContaining('one server, not a cluster') });
  });

  it('wait for a Redis that took others before, and is full for now', async () => {
    const { queue, send } = rig();
    send('r-1');
    await vi.advanceTimersByTimeAsync(10);
    queue.refusal = 'OOM command not allowed';
    send('r-2');
    await vi.advanceTimersByTimeAsync(2 * LOOK_MS);
    expect(queue.jobs.size).toBe(1);
    queue.refusal = undefined;
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    expect(queue.jobs.size).toBe(2);
  });

  it('leave no timer and no saved answer at the end of the run, but all others', async () => {
    const { queue, events, jobs, send } = rig();
    const [one, other] = [send('r-1'), send('r-2')];
    await vi.advanceTimersByTimeAsync(10);
    for (const jobId of queue.added) {
      events.emit('completed', { jobId, returnvalue: JSON.stringify(ANSWER) });
    }
    await Promise.all([one.ended, other.ended]);
    one.saved();
    const closed = jobs.close();
    await vi.advanceTimersByTimeAsync(1);
    await closed;
    expect([...queue.jobs.keys()]).toEqual(queue.added.slice(1));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are at work from the event that a worker took them until one gave them back', async () => {
    const { queue, events, jobs, send } = rig();
    send('r-1');
    send('r-2');
    await vi.advanceTimersByTimeAsync(10);
    const [jobId = '', other = ''] = queue.added;
    expect(jobs.counts).toEqual({ queued: 2, active: 0, hasWorker: undefined });
    events.emit('active', { jobId });
    expect(jobs.counts).toEqual({ queued: 1, active: 1, hasWorker: true });
    events.emit('waiting', { jobId });
    expect(jobs.counts).toMatchObject({ queued: 2, active: 0 });
    // The event was missed.
    queue.jobs.set(other, { state: 'active' });
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    expect(jobs.counts).toMatchObject({ queued: 1, active: 1 });
    events.emit('completed', { jobId: other, returnvalue: ANSWER });
    expect(jobs.counts).toMatchObject({ queued: 1, active: 0 });
  });

  it('wait for a worker if none is there', async () => {
    const { queue, jobs, send } = rig();
    queue.workers = 0;
    send();
    await vi.advanceTimersByTimeAsync(LOOK_MS + 10);
    expect(jobs.counts).toEqual({ queued: 1, active: 0, hasWorker: false });
    queue.workers = 1;
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    expect(jobs.counts).toMatchObject({ hasWorker: true });
    vi.spyOn(queue, 'getWorkersCount').mockRejectedValue(new Error('NOPERM'));
    await vi.advanceTimersByTimeAsync(LOOK_MS);
    expect(jobs.counts).toMatchObject({ hasWorker: undefined });
  });

  it('end with answers that are collected before their events come', async () => {
    const { queue, jobs, send } = rig();
    const { ended } = send();
    await vi.advanceTimersByTimeAsync(10);
    queue.jobs.set(queue.added[0] ?? '', { state: 'completed', returnvalue: ANSWER });
    const collected = jobs.collect();
    await vi.advanceTimersByTimeAsync(2);
    await collected;
    expect(await ended).toEqual({ text: 'yes' });
  });

  it('are sent anew if the run sends an answered request again', async () => {
    const { queue, events, send } = rig();
    const { ended, again } = send();
    await vi.advanceTimersByTimeAsync(10);
    const [jobId = ''] = queue.added;
    queue.jobs.set(jobId, { state: 'completed', returnvalue: ANSWER });
    events.emit('completed', { jobId, returnvalue: ANSWER });
    await ended;
    const second = again();
    await vi.advanceTimersByTimeAsync(10);
    expect([queue.added, queue.jobs.get(jobId)?.state]).toEqual([[jobId, jobId], 'waiting']);
    const answer = { response: { statusCode: 200, body: 'new' }, sent: SENT };
    events.emit('completed', { jobId, returnvalue: answer });
    expect((await second).body).toBe('new');
  });
});
