import { checkInput } from '../check-input.ts';
import { endpointOf } from '../endpoint.ts';
import { findSources } from '../input/sources.ts';
import { Ledger } from '../ledger/ledger.ts';
import { inspectOutput } from '../ledger/open-output.ts';
import { Budget } from '../money/budget.ts';
import { duration, money, plural, short } from '../screen/words.ts';
import { promptTokensOf } from '../size.ts';
import type { RunOptions } from './run-options.ts';

const MINUTE_MS = 60_000;

/** Checks every line, and says what a run would come to. @returns the exit code */
export async function dryRun({ batch }: RunOptions): Promise<number> {
  const sources = findSources(typeof batch.input === 'string' ? [batch.input] : batch.input);
  const paths = sources.map(({ path }) => path).filter((path) => path !== undefined);
  const { output, existing = 'resume', changed = 'fail', api = 'chat' } = batch;
  const ledger =
    output === '' ? new Ledger() : (await inspectOutput(output, existing, paths)).ledger;
  const { model, format, template, limit } = batch;
  const budget = new Budget(batch.prices, Number.POSITIVE_INFINITY);
  let [pending, prompt, output_, cost] = [0, 0, 0, 0];
  const input = { api, model, format, template, limit };
  const lines = await checkInput(sources, input, ledger, changed, (request, state) => {
    if (state === 'done' || (state === 'failed' && batch.retryFailed !== true)) return;
    const tokens = promptTokensOf(request);
    pending += 1;
    prompt += tokens;
    output_ += endpointOf(request.url)?.maxOutputOf(request.body) ?? 0;
    cost += budget.estimate(request, tokens);
  });
  const {
    requestsPerMinute = Number.POSITIVE_INFINITY,
    tokensPerMinute = Number.POSITIVE_INFINITY,
  } = batch;
  const ms =
    Math.max(pending / requestsPerMinute, (prompt + output_) / tokensPerMinute) * MINUTE_MS;
  const rows = [
    ['lines', `${plural(lines, 'line')}, all can be sent`],
    ['to send', plural(pending, 'request')],
    ['tokens', `about ${short(prompt)} in${output_ > 0 ? `, at most ${short(output_)} out` : ''}`],
    ...(budget.hasPrices ? [['cost', `at most about ${money(cost)}`]] : []),
    ['time', ms > 0 ? `at least ${duration(ms)} at your limits` : 'unknown: no limits were given'],
  ];
  process.stdout.write(rows.map(([label = '', value]) => `${label.padEnd(10)}${value}\n`).join(''));
  return 0;
}
