/** What a thread is asked, and what it answers. */
import type { ClientName } from './clients/index.ts';
import type { CellRun } from './run-cell.ts';
import type { Scenario } from './scenario.ts';

export interface Job {
  readonly scenario: Scenario;
  readonly client: ClientName;
  readonly seed: number;
}

export type Answer =
  | { readonly status: 'ok'; readonly run: CellRun }
  | { readonly status: 'failed'; readonly reason: string };
