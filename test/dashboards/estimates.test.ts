import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { dashboards } from '../../dashboards/src/dashboards.ts';
import { expressionsOf, filled, panelsOf } from './panels.ts';
import { canRun, promtool } from './programs.ts';

const MINUTES = 10;

/** A histogram in which all of a minute's ten values are between two buckets. */
function ratios(unit: string, below: string, upTo: string) {
  const series = (le: string, growth: number) => ({
    series: `headgate_byte_estimate_ratio_bucket{job="j", instance="a", headgate_name="n", headgate_unit="${unit}", le="${le}"}`,
    values: `0+${growth}x${MINUTES}`,
  });
  return [series(below, 0), series(upTo, 10), series('+Inf', 10)];
}

const PANELS = Object.values(dashboards()).flatMap(panelsOf);

describe.skipIf(!canRun('promtool'))('estimates of bytes and tokens are apart', () => {
  test.each(['Estimated / actual size', 'Estimated / actual size, over time'])(
    '%s',
    async (title) => {
      const panel = PANELS.find((one) => one.title === title);
      const [expression = ''] = panel === undefined ? [] : expressionsOf(panel);
      const expr = filled(expression, { job: 'j', limiter: 'n', __rate_interval: '4m' });
      const text = stringify({
        rule_files: [],
        tests: [
          {
            interval: '1m',
            input_series: [...ratios('bytes', '0.9', '1'), ...ratios('tokens', '4', '10')],
            promql_expr_test: [
              {
                expr: `round(${expr}, 0.01)`,
                eval_time: `${MINUTES}m`,
                exp_samples: [
                  { labels: '{headgate_unit="bytes"}', value: 0.95 },
                  { labels: '{headgate_unit="tokens"}', value: 7 },
                ],
              },
            ],
          },
        ],
      });
      const folder = await mkdtemp(join(tmpdir(), 'headgate-estimates-'));
      try {
        const file = join(folder, 'estimates.test.yml');
        await writeFile(file, text);
        expect(await promtool('test', 'rules', file)).toContain('SUCCESS');
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );
});
