// Grafana's own types of dashboards, from which the schema is made that dashboards must meet.
import type {
  FieldConfig as HeatmapField,
  Options as HeatmapOptions,
} from '@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen';
import type { Options as StatOptions } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type {
  FieldConfig as TimelineField,
  Options as TimelineOptions,
} from '@grafana/schema/dist/esm/raw/composable/statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen';
import type {
  FieldConfig as SeriesField,
  Options as SeriesOptions,
} from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
import type { Dashboard } from '@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen';

/** What belongs to one kind of panel alone. A builder leaves out what has a default. */
interface OfPanel<Options, Field> {
  options: Partial<Options>;
  custom: Partial<Field>;
}

export interface GrafanaTypes {
  dashboard: Dashboard;
  stat: OfPanel<StatOptions, Record<string, never>>;
  timeseries: OfPanel<SeriesOptions, SeriesField>;
  'state-timeline': OfPanel<TimelineOptions, TimelineField>;
  heatmap: OfPanel<HeatmapOptions, HeatmapField>;
}
