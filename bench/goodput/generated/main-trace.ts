/** Runs one client against one generated provider, and prints a trace. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { printTable } from '../../text.ts';
import { generatedClients } from './clients/index.ts';
import { describeScenario } from './describe.ts';
import type { TraceOptions } from './options.ts';
import { perMille } from './report.ts';
import { runGenerated } from './run.ts';
import { drawScenario } from './space.ts';
import { beliefText, Trace, type TraceEntry } from './trace.ts';
import { traceChart } from './trace-chart.ts';

export async function reportTrace(options: TraceOptions): Promise<void> {
  const { seed, client, concurrency, stalls, svg } = options;
  const scenario = drawScenario(seed);
  const trace = new Trace();
  const score = await runGenerated(scenario, generatedClients[client], {
    concurrency,
    stalls,
    watcher: trace,
  });
  console.log(`${client}, seed ${seed}: ${describeScenario(scenario)}`);
  if (options.trace) printEntries(trace.entries);
  const { goodput, rejectedPerMille, accepted, rejected, floodedMinutes } = score;
  console.log(
    `\n${goodput.toFixed(1)} % of an omniscient client; ${accepted} let in, ${rejected} rejected ` +
      `(${perMille(rejectedPerMille)} per 1,000), ${floodedMinutes} flooded minutes`,
  );
  if (svg !== undefined) {
    mkdirSync(dirname(svg), { recursive: true });
    writeFileSync(svg, traceChart(`${client}, seed ${seed}`, scenario, trace.entries));
    console.log(`The picture is in ${svg}`);
  }
  if (options.json) {
    console.log(`\n${JSON.stringify({ client, scenario, score, entries: trace.entries })}`);
  }
}

function printEntries(entries: readonly TraceEntry[]): void {
  const heading = ['seconds', '', 'sent', 'accepted', 'rejected', 'in flight', 'waiting'];
  const rows = entries.map((entry) => [
    (entry.atMs / 1_000).toFixed(3),
    entry.cause === 'rejected' ? '429' : '',
    ...[entry.sent, entry.accepted, entry.rejected, entry.inFlight, entry.waiting].map(String),
    entry.belief === undefined ? '' : beliefText(entry.belief),
  ]);
  printTable([[...heading, 'belief'], ...rows], 'left');
}
