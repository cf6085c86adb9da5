import { BatchError } from '../errors.ts';
import { countAt, textAt } from '../json.ts';
import { count, money, percent, short } from '../screen/words.ts';
import { Tally } from '../tally.ts';
import { latestResults } from './latest-results.ts';

const ERRORS_SHOWN = 10;

/** `headgate summary`: what a file of results holds. @returns the exit code */
export async function summary(file: string, isJson: boolean): Promise<number> {
  const tally = new Tally();
  const tokens = { in: 0, cached: 0, out: 0 };
  let [ok, failed, attempts, durationMs, cost] = [0, 0, 0, 0, 0];
  for await (const { result } of latestResults(file)) {
    const { line, isOk } = result;
    if (isOk) ok += 1;
    else {
      failed += 1;
      tally.addError(
        textAt(line, 'error', 'code') ?? 'error',
        textAt(line, 'error', 'message') ?? '',
      );
    }
    attempts += countAt(line, 'headgate', 'attempts') ?? 0;
    durationMs += countAt(line, 'headgate', 'duration_ms') ?? 0;
    cost += countAt(line, 'headgate', 'cost') ?? 0;
    tokens.in += countAt(line, 'headgate', 'usage', 'input_tokens') ?? 0;
    tokens.cached += countAt(line, 'headgate', 'usage', 'cached_input_tokens') ?? 0;
    tokens.out += countAt(line, 'headgate', 'usage', 'output_tokens') ?? 0;
  }
  const total = ok + failed;
  if (total === 0) throw new BatchError(`${file} holds no results`);
  const { errors } = tally;
  if (isJson) {
    process.stdout.write(
      `${JSON.stringify({ file, ok, failed, attempts, tokens, cost, errors })}\n`,
    );
    return 0;
  }
  const rows = [
    ['results', `${count(total)} in ${file}`],
    ['good', `${count(ok)} (${percent(ok, total)})`],
    [
      'failed',
      failed === 0 ? '0' : `${count(failed)}; headgate run --retry-failed sends them again`,
    ],
    ...errors.slice(0, ERRORS_SHOWN).map(({ kind, count: times, message }) => {
      return ['', `${count(times).padStart(6)}  ${kind}: ${message}`];
    }),
    [
      'calls',
      `${count(attempts)}, ${(durationMs / total / 1_000).toFixed(2)} s for a request on average`,
    ],
    ['tokens', `${short(tokens.in)} in (${short(tokens.cached)} cached), ${short(tokens.out)} out`],
    ...(cost > 0 ? [['cost', money(cost)]] : []),
  ];
  process.stdout.write(rows.map(([label = '', value]) => `${label.padEnd(10)}${value}\n`).join(''));
  return 0;
}
