import { from, Observable, type ObservableInput, type OperatorFunction, Subject } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { Clock } from '../../src/index.ts';
import { schedulerClock } from '../../src/simulator/index.ts';
import type { InnerPlan, Interruption, Scenario, Timeline } from './marbles-scenario.ts';

/** Makes an operator under test. */
export type Mapping = (
  project: (value: number, index: number) => ObservableInput<string>,
  concurrency: number,
  clock: Clock,
) => OperatorFunction<number, string>;

/** Plays a scenario in virtual time. Returns all observable events as `<frame> <event>`. */
export function play(script: Scenario, mapping: Mapping): readonly string[] {
  const scheduler = new TestScheduler(() => {});
  const stage = new Stage(script, scheduler);
  scheduler.run(() => stage.play(mapping));
  return stage.log;
}

class Stage {
  readonly log: string[] = [];
  readonly #script: Scenario;
  readonly #scheduler: TestScheduler;
  readonly #source = new Subject<number>();
  readonly #hotInners: readonly (Observable<string> | undefined)[];
  readonly #calls = { next: 0, project: 0, finalize: 0 };
  #leave = () => {};
  #pushed = 100;
  #ended = false;

  constructor(script: Scenario, scheduler: TestScheduler) {
    this.#script = script;
    this.#scheduler = scheduler;
    this.#hotInners = script.inners.map((plan, at) => {
      if (plan.kind !== 'hot') return undefined;
      const heated = new Subject<string>();
      this.#timeline(`hot${at}`, plan.timeline, (item) => `hot${at}.${item}`).subscribe(heated);
      return heated;
    });
  }

  play(mapping: Mapping): void {
    const { source, hot, concurrency, unsubscribeAt } = this.#script;
    const cold = this.#timeline('source', source, (item) => item);
    if (hot) cold.subscribe(this.#source);
    const values = hot ? this.#noted('source', this.#source) : this.#noted('source', cold);
    const clock = schedulerClock(this.#scheduler);
    const project = (value: number, index: number) => this.#project(value, index);
    const results = new Observable<string>((out) => {
      this.#leave = () => {
        if (this.#ended) return;
        this.#end('unsubscribe');
        out.unsubscribe();
      };
      return values.pipe(mapping(project, concurrency, clock)).subscribe(out);
    });
    if (unsubscribeAt !== undefined) {
      this.#scheduler.schedule(() => this.#leave(), unsubscribeAt);
    }
    results.subscribe({
      next: (value) => {
        this.#note(`next ${value}`);
        this.#interrupt('next');
      },
      error: (error) => this.#end(`error ${String(error)}`),
      complete: () => this.#end('complete'),
    });
    this.#note('subscribed');
  }

  #project(value: number, index: number): ObservableInput<string> {
    const name = `inner${index}`;
    this.#note(`project ${value} ${index}`);
    this.#interrupt('project');
    const at = value % this.#script.inners.length;
    const plan = this.#script.inners[at] as InnerPlan;
    switch (plan.kind) {
      case 'cold':
        return this.#noted(
          name,
          this.#timeline(name, plan.timeline, (item) => `${value}.${item}`),
        );
      case 'hot':
        return this.#noted(name, this.#hotInners[at] as Observable<string>);
      case 'array':
        return Array.from({ length: plan.length }, (_, item) => `${value}.${item}`);
      case 'iterable':
        return this.#items(plan.length, name);
      case 'throws':
        throw new Error(`project ${value}`);
      case 'broken':
        return this.#noted(
          name,
          new Observable(() => {
            throw new Error(`subscribe ${value}`);
          }),
        );
      default:
        // Values that are not an ObservableInput must be recognised at run time too.
        return (plan.kind === 'undefined' ? undefined : 42) as unknown as string[];
    }
  }

  #note(what: string): void {
    this.log.push(`${this.#scheduler.now()} ${what}`);
  }

  #end(what: string): void {
    this.#note(what);
    this.#ended = true;
  }

  #interrupt(inside: Interruption['inside']): void {
    const nth = this.#calls[inside];
    this.#calls[inside] += 1;
    for (const interruption of this.#script.interruptions) {
      if (interruption.inside !== inside || interruption.nth !== nth || this.#ended) continue;
      this.#note(`interrupt: ${interruption.does}`);
      if (interruption.does === 'unsubscribe') this.#leave();
      else if (interruption.does === 'push') this.#source.next(this.#pushed++);
      else if (interruption.does === 'complete') this.#source.complete();
      else this.#source.error(new Error('interrupted'));
    }
  }

  *#items(length: number, name: string): Iterable<string> {
    this.#note(`subscribe ${name}`);
    try {
      for (let item = 0; item < length; item += 1) yield `${name}.${item}`;
    } finally {
      this.#note(`unsubscribe ${name}`);
    }
  }

  /** Logs when an inner stream is subscribed and unsubscribed. */
  #noted<T>(name: string, source: Observable<T>): Observable<T> {
    return new Observable((out) => {
      this.#note(`subscribe ${name}`);
      out.add(() => {
        this.#note(`unsubscribe ${name}`);
        if (name !== 'source') this.#interrupt('finalize');
      });
      out.add(from(source).subscribe(out));
    });
  }

  #timeline<T>(
    name: string,
    { gaps, endGap, end }: Timeline,
    value: (item: number) => T,
  ): Observable<T> {
    return new Observable((out) => {
      let at = 0;
      const pauseBefore = (item: number) => gaps[item] ?? endGap;
      const step = () => {
        do {
          if (at < gaps.length) out.next(value(at));
          else if (end === 'complete') out.complete();
          else if (end === 'error') out.error(new Error(name));
          at += 1;
          if (at > gaps.length) return;
        } while (!out.closed && pauseBefore(at) === 0);
        if (!out.closed) out.add(this.#scheduler.schedule(step, pauseBefore(at)));
      };
      if (pauseBefore(0) === 0) step();
      else out.add(this.#scheduler.schedule(step, pauseBefore(0)));
    });
  }
}
