import { fileURLToPath } from 'node:url';
import type { Dashboard, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import Ajv, { type ValidateFunction } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';
import { beforeAll, describe, expect, test } from 'vitest';
import { dashboards } from '../../dashboards/src/dashboards.ts';
import { panelsOf } from './panels.ts';

/** Each part of Grafana's types, with a check for it that allows no field it does not know. */
type Checks = Readonly<Record<string, ValidateFunction>>;

function checksFromTypes(): Checks {
  const type = 'GrafanaTypes';
  const schema = createGenerator({
    path: fileURLToPath(new URL('grafana-types.ts', import.meta.url)),
    tsconfig: fileURLToPath(new URL('../../tsconfig.json', import.meta.url)),
    type,
    skipTypeCheck: true,
    additionalProperties: false,
  }).createSchema(type);
  const ajv = new Ajv.default({ strict: false, allErrors: true });
  ajv.addSchema(schema, type);
  const check = (path: string) =>
    ajv.compile({ $ref: `${type}#/definitions/${type}/properties/${path}` });
  const panels = ['stat', 'timeseries', 'state-timeline', 'heatmap'];
  return Object.fromEntries([
    ['dashboard', check('dashboard')],
    ...panels.map((panel) => [panel, check(panel)]),
  ]);
}

/** The schema knows annotations of Grafana's own alone; those of Prometheus have other fields. */
function withoutAnnotations(dashboard: Dashboard): unknown {
  return JSON.parse(JSON.stringify({ ...dashboard, annotations: { list: [] } }));
}

/** What the schema of a dashboard leaves open: each kind of panel has its own. */
function ofPanel({ options, fieldConfig }: Panel): unknown {
  const custom = { ...fieldConfig?.defaults.custom };
  for (const { id, value } of fieldConfig?.overrides.flatMap(({ properties }) => properties) ??
    []) {
    if (id.startsWith('custom.')) custom[id.slice('custom.'.length)] = value;
  }
  return JSON.parse(JSON.stringify({ options, custom }));
}

function expectValid(check: ValidateFunction | undefined, value: unknown): void {
  check?.(value);
  const found = check?.errors?.map(({ instancePath, message, params }) => {
    return `${instancePath} ${message} ${JSON.stringify(params)}`;
  });
  expect(found ?? []).toEqual([]);
}

describe('the schema of Grafana', () => {
  let checks: Checks = {};

  beforeAll(() => {
    checks = checksFromTypes();
  });

  const all = Object.values(dashboards());

  test.each(all.map((dashboard) => [dashboard.title, dashboard] as const))(
    'takes "%s"',
    (_title, dashboard) => {
      expect(checks).toHaveProperty('dashboard');
      expectValid(checks.dashboard, withoutAnnotations(dashboard));
      for (const panel of panelsOf(dashboard)) {
        expect(checks).toHaveProperty(panel.type);
        expectValid(checks[panel.type], ofPanel(panel));
      }
    },
  );

  test('refuses what it does not know', () => {
    const [dashboard] = all;
    expect(checks.dashboard?.({ ...dashboard, annotations: { list: [] }, pannels: [] })).toBe(
      false,
    );
    expect(checks.timeseries?.({ options: {}, custom: { lineWidht: 2 } })).toBe(false);
    expect(checks.timeseries?.({ options: {}, custom: { lineWidth: 'thick' } })).toBe(false);
  });
});
