import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dashboards, written } from '../../dashboards/src/dashboards.ts';
import { sharedForm } from '../../dashboards/src/shared-form.ts';
import { panelsOf } from './panels.ts';

/** What Grafana does as it imports a dashboard: inputs are put in for their names. */
function imported(text: string, answers: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (whole, name) => answers[name] ?? whole);
}

describe.each(Object.entries(dashboards()))('%s as grafana.com has it', (file, dashboard) => {
  const form = sharedForm(dashboard);

  test('is what the code makes: else run `npm run dashboards`', () => {
    const path = new URL(`../../dashboards/grafana.com/${file}`, import.meta.url);
    expect(readFileSync(path, 'utf8')).toBe(written(form));
  });

  test('asks for a Prometheus, and chooses it; nothing else differs', () => {
    expect(form.__inputs).toMatchObject([
      { name: 'DS_PROMETHEUS', type: 'datasource', pluginId: 'prometheus' },
    ]);
    const text = imported(JSON.stringify(form), { DS_PROMETHEUS: 'mine' });
    expect(text).not.toContain('DS_PROMETHEUS}');
    const { __inputs, __elements, __requires, id, templating, ...rest } = JSON.parse(text);
    expect(id).toBeNull();
    const [source, ...others] = templating.list;
    expect(source).toMatchObject({ type: 'datasource', current: { text: 'mine', value: 'mine' } });
    const { templating: before, ...expected } = JSON.parse(JSON.stringify(dashboard));
    expect(others).toEqual(before.list.slice(1));
    expect(rest).toEqual(expected);
  });

  test('names Grafana, the data source, and every kind of panel that it has', () => {
    const named = (type: string) =>
      form.__requires.filter((one) => one.type === type).map(({ id }) => id);
    expect(named('grafana')).toEqual(['grafana']);
    expect(named('datasource')).toEqual(['prometheus']);
    const kinds = new Set(panelsOf(dashboard).map(({ type }) => type));
    expect(named('panel')).toEqual([...kinds].sort());
    for (const { name } of form.__requires) expect(name).not.toBe('');
  });
});

test('a panel of another plugin has to be named first', () => {
  const panels = [{ type: 'piechart' }];
  expect(() => sharedForm({ templating: {}, panels } as never)).toThrow(
    'a panel of type piechart has no name of its plugin',
  );
});
