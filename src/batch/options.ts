import type { LimiterOptions } from 'headgate';
import type { AnswerCache } from './cache/answer-cache.ts';
import type { ApiName } from './endpoint.ts';
import type { InputFormat } from './input/read-input.ts';
import type { ExistingOutput } from './ledger/open-output.ts';
import type { Prices } from './money.ts';
import type { ModelLimits } from './pacer.ts';
import type { Send } from './request.ts';

/** The options of `runBatch`, without those of its limiter. */
export interface BatchOnlyOptions {
  /** Files, patterns of files, or `-` for standard input; `.gz` is unzipped. */
  readonly input: string | readonly string[];
  /**
   * The results file. Results are appended; requests with a successful result are not sent again.
   */
  readonly output: string;
  /** Makes one call to the API. */
  readonly send: Send;
  /** How lines are read. Default: `.csv` and `.tsv` by their names, else JSON lines. */
  readonly format?: InputFormat | undefined;
  /** Of CSV and TSV: the prompt, with `{{column}}` in it. Default `{{prompt}}`. */
  readonly template?: string | undefined;
  /** Lines to send at the most: the first ones. Default: all. */
  readonly limit?: number | undefined;
  /** Which API prompts and bodies without a url are for. Default `chat`. */
  readonly api?: ApiName | undefined;
  /** The model of bodies that name none. */
  readonly model?: string | undefined;
  /**
   * The greatest number of embedding lines that are sent as one request. Only lines that differ in
   * nothing but their text are grouped. `send` then gets them in `members`, and each line has its
   * own result. Default 1: no lines are grouped.
   */
  readonly groupSize?: number | undefined;
  /** What to do with an output that exists. Default `resume`. */
  readonly existing?: ExistingOutput | undefined;
  /**
   * What to do with lines that have a good result and have changed since: `fail` (default) names
   * them and sends nothing, `rerun` sends them again, `keep` keeps the results.
   */
  readonly changed?: ChangedLines | undefined;
  /** Whether to send requests again that failed in an earlier run. Default false. */
  readonly retryFailed?: boolean | undefined;
  /** Of a million tokens, by model. Default: no costs are counted. */
  readonly prices?: Prices | undefined;
  /** Stops before the results of the output cost more than this. Needs `prices`. */
  readonly maxCost?: number | undefined;
  /** Limits of a limiter for each model, where lines name several; `*` is for all others. */
  readonly limitsByModel?: ModelLimits | undefined;
  /**
   * Names where requests go, such as the address of an API. Rates that were learned of it are kept
   * beside the output, in `OUTPUT.rates`, for a run that goes on within an hour. Default: one name
   * for all.
   */
  readonly provider?: string | undefined;
  /**
   * Returns the answer to a request with the same content as an earlier one. The caller closes it.
   */
  readonly cache?: AnswerCache | undefined;
  /** How long a server that goes down is waited for, in ms. Default 30 minutes. */
  readonly outageMs?: number | undefined;
  /** How long a server that was never reached is waited for, in ms. Default 10 s. */
  readonly unreachableMs?: number | undefined;
  /** How long requests in flight may take to end when the run stops early, in ms. Default 10 s. */
  readonly drainMs?: number | undefined;
  /** Stops the run: nothing more is sent, and requests in flight may end. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the run at once: requests in flight are aborted. */
  readonly abortSignal?: AbortSignal | undefined;
}

export const CHANGED_LINES = ['fail', 'rerun', 'keep'] as const;
export type ChangedLines = (typeof CHANGED_LINES)[number];

/** Options of a batch, and those of the limiter that paces it. */
export interface BatchOptions
  extends BatchOnlyOptions,
    Omit<LimiterOptions, 'total' | 'classify'> {}

/** The checked options, with their defaults. */
export interface BatchSettings {
  readonly batch: BatchOnlyOptions &
    Required<
      Pick<
        BatchOnlyOptions,
        | 'api'
        | 'existing'
        | 'changed'
        | 'retryFailed'
        | 'groupSize'
        | 'provider'
        | 'outageMs'
        | 'unreachableMs'
        | 'drainMs'
      >
    >;
  readonly limiter: LimiterOptions;
}
