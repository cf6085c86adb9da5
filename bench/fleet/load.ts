/** Makes the requests of one worker, as a program would. */
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../reason.ts';
import type { Connected } from './clients/client.ts';
import type { Load, LoadResult } from './job.ts';
import type { SendLog } from './send-log.ts';

/** Runs a load until it is stopped. */
export class RunningLoad {
  private readonly client: Connected;
  private readonly load: Load;
  private readonly log: SendLog;
  private readonly end = new AbortController();
  private readonly waitsMs: number[] = [];
  private failed = 0;
  private reason: string | undefined = undefined;
  private isStopped = false;
  private running = 0;
  private readonly source: Promise<unknown>;

  constructor(client: Connected, load: Load, log: SendLog) {
    this.client = client;
    this.load = load;
    this.log = log;
    this.source =
      load.kind === 'backlog' ? this.refill(load.requests) : this.arrive(load.perSecond);
  }

  /** Cancels waiting requests, and waits for running ones. */
  async stop(): Promise<LoadResult> {
    this.isStopped = true;
    this.end.abort();
    if (this.load.kind === 'arrivals') await this.source;
    while (this.running > 0) await sleep(1);
    this.log.close();
    const waitsMs = Float64Array.from(this.waitsMs);
    return { sent: waitsMs.length, failed: this.failed, reason: this.reason, waitsMs };
  }

  private refill(requests: number): Promise<unknown> {
    const next = async () => {
      while (!this.isStopped) await this.request();
    };
    return Promise.all(Array.from({ length: requests }, next));
  }

  private async arrive(perSecond: number): Promise<void> {
    const startMs = performance.now();
    for (let made = 0; !this.isStopped; ) {
      const due = Math.floor(((performance.now() - startMs) * perSecond) / 1_000);
      for (; made < due; made += 1) void this.request();
      await sleep(1);
    }
  }

  private async request(): Promise<void> {
    const arrivedMs = performance.now();
    try {
      await this.client.run(() => this.send(arrivedMs), this.end.signal);
    } catch (error) {
      if (this.isStopped) return;
      this.failed += 1;
      this.reason ??= reasonOf(error);
      // Leave the turn: a client that fails at once would otherwise be called in an endless loop.
      await sleep(10);
    }
  }

  private async send(arrivedMs: number): Promise<void> {
    if (this.isStopped) return;
    this.log.sent();
    this.waitsMs.push(performance.now() - arrivedMs);
    this.running += 1;
    if (this.load.tookMs > 0) await sleep(this.load.tookMs);
    this.running -= 1;
    this.log.ended();
  }
}
