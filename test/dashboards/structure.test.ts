import { readFileSync } from 'node:fs';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { describe, expect, test } from 'vitest';
import { GATE_COLOURS, OUTCOME_COLOURS, STATE } from '../../dashboards/src/colours.ts';
import { dashboards, written } from '../../dashboards/src/dashboards.ts';
import { frame } from '../../dashboards/src/frame.ts';
import { layOut } from '../../dashboards/src/layout.ts';
import { BINDING_WORDS, bindingGate } from '../../dashboards/src/mappings.ts';
import { GATE_KINDS } from '../../src/model/outcome.ts';
import { METRICS } from '../../src/telemetry/metrics.ts';
import { attributesOf, GATES } from './instruments.ts';
import { expressionsOf, panelsOf, placedOn } from './panels.ts';

/**
 * What of a window of 1440 x 900 is left for panels below Grafana's bars, in units of 38 pixels.
 */
const FIRST_SCREEN = 18;

const ALL = Object.entries(dashboards());

/** What a panel says of the look of its series. */
interface Fields {
  readonly color?: { readonly mode: string };
  readonly custom?: { readonly lineWidth?: number; readonly stacking?: { readonly mode?: string } };
  readonly mappings?: readonly { readonly type: string; readonly options: unknown }[];
  readonly overrides: readonly Override[];
}

interface Override {
  readonly matcher: { readonly id: string; readonly options?: unknown };
  readonly properties: readonly { readonly id: string; readonly value?: unknown }[];
}

function fieldsOf({ fieldConfig }: Panel): Fields {
  return { ...fieldConfig?.defaults, overrides: fieldConfig?.overrides ?? [] };
}

/** The colour that the last matching override gives to a series, as Grafana does. */
function colourOf(series: string, overrides: readonly Override[]): string {
  const matching = overrides.filter(({ matcher: { id, options } }) =>
    id === 'byRegexp' ? new RegExp(String(options).slice(1, -1)).test(series) : options === series,
  );
  const colours = matching.flatMap(({ properties }) =>
    properties.filter(({ id }) => id === 'color'),
  );
  const value = colours.at(-1)?.value;
  if (typeof value !== 'object' || value === null || !('fixedColor' in value)) {
    throw new Error(`${series} has no colour of its own`);
  }
  return String(value.fixedColor);
}

describe.each(ALL)('%s', (file, dashboard) => {
  const panels = panelsOf(dashboard);
  const named = panels.map((panel) => [panel.title, panel] as const);

  test('is what the code makes: else run `npm run dashboards`', () => {
    const path = new URL(`../../dashboards/grafana/${file}`, import.meta.url);
    expect(readFileSync(path, 'utf8')).toBe(written(dashboard));
  });

  test('fills every row of its 24 columns, and nothing overlaps', () => {
    const cells = new Map<string, string | undefined>();
    let end = 0;
    for (const { gridPos, title } of placedOn(dashboard)) {
      const { x = 0, y = 0, w = 0, h = 0 } = gridPos ?? {};
      for (let row = y; row < y + h; row += 1) {
        for (let column = x; column < x + w; column += 1) {
          const cell = `${column}/${row}`;
          expect(cells.get(cell), `${title} lies on another`).toBeUndefined();
          cells.set(cell, title);
        }
      }
      end = Math.max(end, y + h);
    }
    expect(cells.size).toBe(24 * end);
  });

  test('gives everything an id of its own', () => {
    const ids = placedOn(dashboard).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).not.toContain(undefined);
  });

  test('answers before the first heading, on the first screen', () => {
    const heading = placedOn(dashboard).find(({ type }) => type === 'row');
    expect(heading?.gridPos?.y).toBeLessThanOrEqual(FIRST_SCREEN);
  });

  test('has no panel twice', () => {
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const shown = panels.map((panel) => JSON.stringify([panel.type, expressionsOf(panel)]));
    expect(new Set(shown).size).toBe(shown.length);
  });

  test.each(named)('"%s" says what it answers, in a unit, and asks something', (_title, panel) => {
    expect(panel.title).toBeTruthy();
    expect(panel.description).toMatch(/\.$/);
    expect(panel.fieldConfig?.defaults.unit).toBeTruthy();
    const targets = (panel.targets ?? []) as unknown as { refId: string; datasource: unknown }[];
    expect(targets.length).toBeGreaterThan(0);
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    for (const { refId, datasource } of targets) {
      expect(refId).toMatch(/^[A-Z]$/);
      expect(datasource).toEqual(panel.datasource);
    }
  });

  test.each(named)('"%s" draws a gate in its own colour', (_title, panel) => {
    const legends = JSON.stringify(panel.targets);
    if (!legends.includes('"legendFormat":"{{headgate_gate}}"')) return;
    const overrides = panel.fieldConfig?.overrides ?? [];
    for (const [gate, colour] of Object.entries(GATE_COLOURS)) {
      const own = overrides.find(({ matcher }) => matcher.options === gate);
      expect(own?.properties, gate).toEqual([
        { id: 'color', value: { mode: 'fixed', fixedColor: colour } },
      ]);
    }
  });

  test.each(named)(
    '"%s" has colours that no level, zero or missing value spoils',
    (_title, panel) => {
      const { color, custom, mappings = [], overrides } = fieldsOf(panel);
      if (panel.type === 'state-timeline') {
        expect(mappings).not.toEqual([]);
        expect(color?.mode).toBe('palette-classic');
      }
      if (panel.type === 'stat') {
        const special = mappings.find(({ type }) => type === 'special');
        expect(special?.options).toMatchObject({
          match: 'null+nan',
          result: { text: expect.stringMatching(/\S/), color: STATE.idle },
        });
      }
      if (custom?.stacking?.mode === 'normal') expect(custom.lineWidth).toBe(0);
      if (!JSON.stringify(panel.targets).includes('"legendFormat":"{{error_type}}"')) return;
      for (const error of ['400', '404', '429', '500', '503', 'TypeError']) {
        expect(colourOf(error, overrides), error).not.toBe(OUTCOME_COLOURS.ok);
      }
      expect(colourOf('ok', overrides)).toBe(OUTCOME_COLOURS.ok);
      expect(colourOf('429', overrides)).toBe(STATE.bad);
    },
  );

  test('reads states for annotations over the whole time between two points', () => {
    for (const { target } of dashboard.annotations.list ?? []) {
      expect(target).toMatchObject({
        expr: expect.stringContaining('max_over_time({'),
        interval: '5s',
      });
      expect(target).toMatchObject({ expr: expect.stringContaining('[$__interval]') });
    }
  });

  test('has the variables, annotations and links that every dashboard has', () => {
    const names = dashboard.templating.list?.map(({ name }) => name);
    const shared = ['datasource', 'job', 'instance', 'limiter', 'service', 'jaeger'];
    expect(names?.slice(0, shared.length)).toEqual(shared);
    const annotations = dashboard.annotations.list?.map(({ name }) => name);
    expect(annotations).toEqual(['Throttled mode', 'Outage', 'Circuit breaker open']);
    const searches = dashboard.links?.filter(({ url }) =>
      url?.startsWith('$' + '{jaeger}/search?'),
    );
    expect(searches).toHaveLength(3);
    const others = ALL.map(([, { uid }]) => `/d/${uid}`).filter(
      (url) => !url.endsWith(dashboard.uid ?? ''),
    );
    expect(dashboard.links?.map(({ url }) => url)).toEqual(expect.arrayContaining(others));
  });
});

test('every metric of the table is on a panel', () => {
  const asked = ALL.flatMap(([, dashboard]) => panelsOf(dashboard).flatMap(expressionsOf)).join();
  const missing = Object.values(METRICS)
    .map(({ name }) => name.replaceAll('.', '_'))
    .filter((name) => !asked.includes(name));
  expect(missing).toEqual([]);
});

test('the synthetic program has every metric with every attribute of the table', () => {
  const expected = Object.values(METRICS).map(({ name, attributes }) => [
    name,
    ['headgate.name', ...attributes].sort(),
  ]);
  const found = [...attributesOf()].map(([name, attributes]) => [name, [...attributes].sort()]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
});

test('every gate has a colour, and no two gates the same', () => {
  expect([...GATES].sort()).toEqual([...GATE_KINDS].sort());
  expect(new Set(Object.values(GATE_COLOURS)).size).toBe(GATES.length);
});

test('each gate that requests wait for has a word of what binds', () => {
  const [mapping] = BINDING_WORDS;
  const texts = Object.values((mapping?.options ?? {}) as Record<string, { text: string }>);
  expect(texts.map(({ text }) => text).sort()).toEqual([...GATE_KINDS, 'nothing waits'].sort());
  for (const gate of GATE_KINDS) expect(bindingGate()).toContain(`headgate_gate="${gate}"`);
});

test('a row that does not fill the columns is refused', () => {
  const other = { uid: 'b', title: 'b' };
  const empty = frame({ uid: 'a', title: 'a', description: 'a', other, isForMany: true });
  expect(() => layOut(empty, [{ height: 1, panels: [] }])).toThrow(
    new RangeError('a row must fill 24 columns, got 0'),
  );
});

describe('a link from a series to its traces', () => {
  const links = ALL.flatMap(([, dashboard]) => panelsOf(dashboard)).flatMap(
    ({ title, fieldConfig }) => {
      const { links = [] } = (fieldConfig?.defaults ?? {}) as { links?: { url?: string }[] };
      return links.map(({ url = '' }) => [title ?? '', url] as const);
    },
  );

  test('is there for attempts and for waits', () => {
    const titled = links.map(([title]) => title);
    expect(titled).toContain('Attempts, by what they ended with');
    expect(titled).toContain('Time of an attempt, by what it ended with');
    expect(titled).toContain('Wait at each gate, p95');
  });

  test.each(links)('of %s asks for the spans of its label', (_title, url) => {
    const filled = url
      .replaceAll(/\$\{jaeger\}/g, 'http://jaeger.example')
      .replaceAll(/\$\{__field\.labels\.(error_type|headgate_gate):percentencode\}/g, '429')
      .replaceAll(/\$\{(?:__from|__to|service:percentencode)\}/g, '1700000000000');
    expect(filled).not.toContain('${');
    const { searchParams } = new URL(filled);
    const tags = JSON.parse(searchParams.get('tags') ?? '{}');
    const [[name, value] = []] = Object.entries(tags);
    expect(value).toBe('429');
    const isOfAttempts = searchParams.get('operation') === 'headgate.attempt';
    expect(name).toBe(isOfAttempts ? 'error.type' : 'headgate.gate');
    expect(searchParams.get('start')).toBe('1700000000000000');
  });
});
