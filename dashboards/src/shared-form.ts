import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';

/** The input that Grafana asks for as it imports a dashboard: which Prometheus. */
const INPUT = {
  name: 'DS_PROMETHEUS',
  label: 'Prometheus',
  description: 'The Prometheus that has the metrics of headgate.',
  type: 'datasource',
  pluginId: 'prometheus',
  pluginName: 'Prometheus',
} as const;

/** The oldest Grafana, and Prometheus plugin, that show the dashboards as they are meant. */
const OLDEST = '12.0.0';

/** Panels that are plugins of Grafana, with their names there. A row is none. */
const PANELS: Readonly<Record<string, string>> = {
  heatmap: 'Heatmap',
  stat: 'Stat',
  'state-timeline': 'State timeline',
  timeseries: 'Time series',
};

/** What a dashboard needs to be shown. */
interface Requirement {
  readonly type: 'grafana' | 'datasource' | 'panel';
  readonly id: string;
  readonly name: string;
  readonly version: string;
}

/** A dashboard as grafana.com takes it, and as Grafana exports one for others. */
export interface SharedForm extends Dashboard {
  readonly __inputs: readonly (typeof INPUT)[];
  readonly __elements: Readonly<Record<string, never>>;
  readonly __requires: readonly Requirement[];
}

/**
 * The form of a dashboard that grafana.com publishes. Its importer is asked for a Prometheus, which
 * becomes the first choice of the variable `datasource`.
 *
 * @throws TypeError where a panel is of a type that has no name here
 */
export function sharedForm(dashboard: Dashboard): SharedForm {
  const placeholder = `\${${INPUT.name}}`;
  const list = dashboard.templating.list?.map((variable) =>
    variable.type === 'datasource'
      ? { ...variable, current: { text: placeholder, value: placeholder } }
      : variable,
  );
  return {
    __inputs: [INPUT],
    __elements: {},
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: OLDEST },
      { type: 'datasource', id: INPUT.pluginId, name: INPUT.pluginName, version: OLDEST },
      ...panelTypes(dashboard).map(panelPlugin),
    ],
    id: null,
    ...dashboard,
    templating: { ...dashboard.templating, ...(list !== undefined && { list }) },
  };
}

function panelTypes({ panels = [] }: Dashboard): string[] {
  const types = new Set(panels.map(({ type }) => type));
  types.delete('row');
  return [...types].sort();
}

function panelPlugin(id: string): Requirement {
  const name = PANELS[id];
  if (name === undefined) throw new TypeError(`a panel of type ${id} has no name of its plugin`);
  return { type: 'panel', id, name, version: '' };
}
