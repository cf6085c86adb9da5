/** Prints the tables. */
import { isClientName } from './clients/index.ts';
import { type Comparison, type Goal, goalsOf, type Summaries } from './compare.ts';
import { isGateName } from './gates.ts';
import type { Options } from './options.ts';
import type { Summary } from './statistics.ts';
import { differenceText, printTable, processor, ratioText, unitOf, whole } from './text.ts';
import { isWatchName } from './watching.ts';

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
  const gateRows = [['gate', 'requests', 'warm-up', 'ns a request', 'min - max', 'vs gate-none']];
  const watchRows = [
    ['watched', 'requests', 'warm-up', 'ns a request', 'min - max', 'vs telemetry-off'],
  ];
  const waitersRows = [['operation', 'waiters', 'times', 'warm-up', 'ns', 'min - max']];
  for (const [name, job] of jobs) {
    const { tasks, repeat, warmUp } = job;
    const summary = summaries.get(name);
    const count = repeat === 1 ? whole(tasks) : `${repeat} x ${whole(tasks)}`;
    const cells = [count, whole(warmUp), ...cellsOf(summary)];
    if (isClientName(name)) {
      const ratio = summary && base ? summary.median / base : null;
      clientRows.push([name, ...cells, ratioText(ratio)]);
    } else if (isGateName(name)) {
      gateRows.push([
        name,
        ...cells,
        differenceText(compared.ns_more_than_gate_none[name] ?? null),
      ]);
    } else if (isWatchName(name)) {
      const more = compared.ns_more_than_telemetry_off[name] ?? null;
      watchRows.push([name, ...cells, differenceText(more)]);
    } else if (job.measure === 'waiters') waitersRows.push([name, whole(job.waiters), ...cells]);
    else costRows.push([name, ...cells, unitOf(name)]);
  }
  printTable(clientRows);
  printTable(costRows);
  printTable(gateRows);
  printTable(watchRows);
  printTable(waitersRows);
  printTable([
    ['ratio', ''],
    ...Object.entries(compared.ratios).map(([name, ratio]) => [name, ratioText(ratio)]),
  ]);
  printTable([['goal', 'figure', 'bound', ''], ...goalsOf(compared).map(goalRow)]);
}

function goalRow([text, figure, sign, bound]: Goal): string[] {
  return [
    text,
    figure === null ? '-' : bound < 10 ? ratioText(figure) : whole(figure),
    `${sign} ${bound}`,
    figure === null ? 'not measured' : isReached(figure, sign, bound) ? 'reached' : 'not reached',
  ];
}

function isReached(figure: number, sign: Goal[2], bound: number): boolean {
  return sign === '>=' ? figure >= bound : figure <= bound;
}

function cellsOf(summary: Summary | undefined): string[] {
  return summary
    ? [whole(summary.median), `${whole(summary.min)} - ${whole(summary.max)}`]
    : ['failed', ''];
}
