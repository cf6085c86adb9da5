import type { Dashboard, Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';

/** Everything that a dashboard has on its grid: headings too. */
export function placedOn({ panels = [] }: Dashboard): (Panel | RowPanel)[] {
  return panels;
}

/** The panels of a dashboard, without the headings of rows. */
export function panelsOf(dashboard: Dashboard): Panel[] {
  return placedOn(dashboard).filter((panel): panel is Panel => panel.type !== 'row');
}

/** The expressions of the queries of a panel. */
export function expressionsOf({ targets = [] }: Panel): string[] {
  return targets.map((target) => ('expr' in target ? String(target.expr) : ''));
}

/** Puts in what is chosen, as Grafana does; every instance and gate unless told otherwise. */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  const chosen = { instance: '.*', gate: '.*', __rate_interval: '4s', __interval: '5s', ...values };
  return Object.entries(chosen).reduce(
    (rest, [name, value]) => rest.replaceAll(new RegExp(`\\$${name}\\b`, 'g'), () => value),
    text,
  );
}
