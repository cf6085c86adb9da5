/** What a thread is asked, and what it answers. */

import type { CellRun } from './cell.ts';
import type { ClientName } from './clients/index.ts';
import type { FinishRun } from './run-cell.ts';
import type { Scenario } from './scenario.ts';

export interface Job {
  readonly scenario: Scenario;
  readonly client: ClientName;
  readonly seed: number;
  /** What is measured. */
  readonly kind: 'goodput' | 'finish';
}

export type Answer =
  | { readonly status: 'ok'; readonly kind: 'goodput'; readonly run: CellRun }
  | { readonly status: 'ok'; readonly kind: 'finish'; readonly run: FinishRun }
  | { readonly status: 'failed'; readonly reason: string };
