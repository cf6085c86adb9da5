import type { Ticket } from '../model/ticket.ts';
import type { AttemptContext } from '../request/attempt-context.ts';
import type { BoundTask } from '../request/bound-task.ts';
import type { DispatchContext } from '../request/dispatch-context.ts';
import type { ExecutionListener } from '../request/request-execution.ts';
import { RequestExecution } from '../request/request-execution.ts';
import { endOf } from '../request/result-subscriber.ts';
import {
  AbortState,
  type Pipeline,
  PipelineRequest,
  type RequestDetails,
} from './pipeline-request.ts';

/** One call to the API; called again when it is retried. */
export type Task<R> = (context: AttemptContext) => R | PromiseLike<R>;

/** A pipeline that ends with the call of a task. */
export interface TaskPipeline<R, T = Task<R>> extends Pipeline<T> {
  readonly dispatch: DispatchContext<T, R>;
}

/**
 * A task that waits at the gate and is then in flight, until it has ended. Its promise is settled
 * with its first value.
 */
export class RunRequest<R, T = Task<R>>
  extends PipelineRequest<T, TaskPipeline<R, T>>
  implements ExecutionListener<T, R>
{
  /**
   * Resolves or rejects the promise. A function to reject it would be kept in vain: most calls
   * succeed.
   */
  private resolve: (value: R | Promise<never>) => void;
  readonly bound: BoundTask<T> | undefined;

  /** @param bound the task with the async context of its call, where that has one */
  constructor(
    options: RequestDetails<TaskPipeline<R, T>>,
    resolve: (value: R | Promise<never>) => void,
    bound: BoundTask<T> | undefined,
  ) {
    super(options);
    this.resolve = resolve;
    this.bound = bound;
  }

  /**
   * An execution that goes on after its first value must not keep that value alive through the
   * promise.
   */
  value(_execution: RequestExecution<T, R>, value: R): void {
    const resolve = this.resolve;
    this.resolve = ignore;
    resolve(value);
  }

  succeeded(execution: RequestExecution<T, R>): void {
    this.end();
    execution.ticket.settle('ok');
  }

  failed(execution: RequestExecution<T, R>, error: unknown): void {
    this.end();
    this.resolve(rejected(error));
    execution.ticket.settle(endOf(execution.ticket, 'failed'));
  }

  protected send(ticket: Ticket<T>): void {
    this.executionOf(ticket).send();
  }

  protected reject(reason: unknown): void {
    this.resolve(rejected(reason));
  }

  protected executionOf(ticket: Ticket<T>): RequestExecution<T, R> {
    return new RequestExecution(ticket, this.options.pipeline.dispatch, this);
  }
}

/** A task with a signal. */
export class AbortableRunRequest<R, T = Task<R>> extends RunRequest<R, T> {
  private readonly signal: AbortSignal;
  private readonly _abortState = new AbortState<T>();

  constructor(
    options: RequestDetails<TaskPipeline<R, T>>,
    resolve: (value: R | Promise<never>) => void,
    bound: BoundTask<T> | undefined,
    signal: AbortSignal,
  ) {
    super(options, resolve, bound);
    this.signal = signal;
  }

  protected override get abortState(): AbortState<T> {
    return this._abortState;
  }

  override start(task: T, ticket: Ticket<T> | undefined): void {
    if (this.heed(this.signal, this._abortState, ticket)) super.start(task, ticket);
  }

  protected override executionOf(ticket: Ticket<T>): RequestExecution<T, R> {
    const execution = super.executionOf(ticket);
    this._abortState.execution = execution;
    return execution;
  }

  protected override end(): void {
    super.end();
    if (!this._abortState.isAborted) this._abortState.execution = undefined;
  }

  protected override reject(reason: unknown): void {
    super.reject(reason);
    this._abortState.execution?.cancel(reason);
  }
}

/** Marks the rejection as handled: the promise may have settled before, with the task's value. */
function rejected(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return promise;
}

function ignore(): void {}
