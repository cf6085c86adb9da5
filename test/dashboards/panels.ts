import type { Dashboard, Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';

/** Everything that a dashboard has on its grid: headings too. */
export function placedOn({ panels = [] }: Dashboard): (Panel | RowPanel)[] {
  return panels;
}

/** The panels of a dashboard, without the headings of rows. */
export function panelsOf(dashboard: Dashboard): Panel[] {
  return placedOn(dashboard).filter((panel): panel is Panel => panel.type !== 'row');
}
