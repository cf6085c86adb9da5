/** The messages to a thread, and its replies. */

import type { CellRun } from './cell.ts';
import type { ClientName } from './clients/index.ts';
import type { GeneratedClientName } from './generated/clients/index.ts';
import type { Score } from './generated/score.ts';
import type { StallTimes } from './generated/stalls.ts';
import type { FinishRun } from './run-cell.ts';
import type { Scenario } from './scenario.ts';

export interface Job {
  readonly scenario: Scenario;
  readonly client: ClientName;
  readonly seed: number;
  /** The kind of measurement. */
  readonly kind: 'goodput' | 'finish';
}

/** One run of a generated provider. */
export interface GeneratedJob {
  readonly kind: 'generated';
  readonly client: GeneratedClientName;
  readonly seed: number;
  readonly concurrency: number;
  readonly stalls?: StallTimes | undefined;
}

export type Answer =
  | { readonly status: 'ok'; readonly kind: 'goodput'; readonly run: CellRun }
  | { readonly status: 'ok'; readonly kind: 'finish'; readonly run: FinishRun }
  | { readonly status: 'ok'; readonly kind: 'generated'; readonly run: Score }
  | { readonly status: 'failed'; readonly reason: string };
