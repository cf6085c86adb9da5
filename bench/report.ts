/** What the figures say: ratios, goals, and the tables that a person reads. */
import { isClientName } from './clients/index.ts';
import type { Name, Options } from './jobs.ts';
import type { Summary } from './statistics.ts';
import { printTable, processor, ratioText, unitOf, whole } from './text.ts';

type Goal = readonly [text: string, figure: number | null, sign: '>=' | '<=', bound: number];

export type Summaries = ReadonlyMap<Name, Summary>;

export function compare(summaries: Summaries) {
  const figure = (name: Name) => summaries.get(name)?.median ?? null;
  const ratio = (name: Name, base: Name) => {
    const [over, under] = [figure(name), figure(base)];
    return over === null || under === null ? null : over / under;
  };
  return {
    ratios: {
      throttle_vs_async_sema: ratio('headgate-throttle', 'async-sema'),
      run_vs_async_sema: ratio('headgate-run', 'async-sema'),
      throttle_vs_p_limit: ratio('headgate-throttle', 'p-limit'),
      throttle_vs_mergeMap: ratio('headgate-throttle', 'mergeMap'),
      per_request_1M_vs_10k: ratio('per-request-1M', 'per-request-10k'),
    },
    bytes_per_waiting_request: figure('waiting-request'),
    bytes_per_waiting_run: figure('waiting-run'),
  };
}

export type Comparison = ReturnType<typeof compare>;

function goalsOf({ ratios, bytes_per_waiting_request }: Comparison): Goal[] {
  return [
    ['throttle() / async-sema, tasks/s', ratios.throttle_vs_async_sema, '>=', 1.5],
    ['limiter.run / async-sema, tasks/s', ratios.run_vs_async_sema, '>=', 1],
    ['cost of a request, at 1M / at 10k', ratios.per_request_1M_vs_10k, '<=', 1.2],
    ['bytes a waiting request', bytes_per_waiting_request, '<=', 400],
  ];
}

export function printReport(
  { jobs, rounds }: Options,
  summaries: Summaries,
  compared: Comparison,
): void {
  console.log(
    `Node ${process.version}, ${processor()}; median of ${rounds} rounds, fresh processes`,
  );
  const base = summaries.get('async-sema')?.median;
  const clientRows = [['client', 'tasks', 'warm-up', 'tasks/s', 'min - max', 'vs async-sema']];
  const costRows = [['cost', 'requests', 'warm-up', 'median', 'min - max', '']];
  for (const [name, { tasks, repeat, warmUp }] of jobs) {
    const summary = summaries.get(name);
    const count = repeat === 1 ? whole(tasks) : `${repeat} x ${whole(tasks)}`;
    const cells = [name, count, whole(warmUp), ...cellsOf(summary)];
    if (isClientName(name)) {
      clientRows.push([...cells, ratioText(summary && base ? summary.median / base : null)]);
    } else {
      costRows.push([...cells, unitOf(name)]);
    }
  }
  const goalRows = goalsOf(compared).map(([text, figure, sign, bound]) => [
    text,
    figure === null ? '-' : bound < 10 ? ratioText(figure) : whole(figure),
    `${sign} ${bound}`,
    figure === null ? 'not measured' : isReached(figure, sign, bound) ? 'reached' : 'not reached',
  ]);
  printTable(clientRows);
  printTable(costRows);
  printTable([
    ['ratio', ''],
    ...Object.entries(compared.ratios).map(([name, ratio]) => [name, ratioText(ratio)]),
  ]);
  printTable([['goal', 'figure', 'bound', ''], ...goalRows]);
}

function isReached(figure: number, sign: Goal[2], bound: number): boolean {
  return sign === '>=' ? figure >= bound : figure <= bound;
}

function cellsOf(summary: Summary | undefined): string[] {
  return summary
    ? [whole(summary.median), `${whole(summary.min)} - ${whole(summary.max)}`]
    : ['failed', ''];
}
