import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('every alert has a runbook, and every runbook an alert', () => {
  const { groups } = parse(read('dashboards/prometheus/rules.yml'));
  const alerts: string[] = groups.flatMap(({ rules }: { rules: { alert?: string }[] }) =>
    rules.flatMap(({ alert }) => (alert === undefined ? [] : [alert])),
  );
  const sections = [...read('docs/operating/alerts.md').matchAll(/^## (.+)$/gm)];
  expect(sections.map(([, name]) => name)).toEqual(alerts);
  expect(alerts.length).toBeGreaterThan(0);
});
