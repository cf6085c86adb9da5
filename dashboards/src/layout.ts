import {
  type Dashboard,
  type DashboardBuilder,
  type Panel,
  RowBuilder,
  type RowPanel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { PanelMaker } from './parts.ts';
import { tidy } from './tidy.ts';

/** Columns of Grafana's grid. */
const COLUMNS = 24;

/** Panels beside each other. */
export interface Row {
  /** A heading above the panels. */
  readonly heading?: string;
  /** In Grafana's units of 30 pixels and a gap of 8. */
  readonly height: number;
  /** The panels with their widths in columns, which make 24 together. */
  readonly panels: readonly (readonly [width: number, panel: PanelMaker])[];
}

/**
 * Puts rows below each other and gives every panel its place, its id and the ids of its queries,
 * which do not depend on what Grafana does with a panel that has none.
 *
 * @throws RangeError for a row that does not fill the columns
 */
export function layOut(dashboard: DashboardBuilder, rows: readonly Row[]): Dashboard {
  const placed: (Panel | RowPanel)[] = [];
  let y = 0;
  for (const { heading, height, panels } of rows) {
    if (heading !== undefined) {
      const id = placed.length + 1;
      placed.push(new RowBuilder(heading).id(id).gridPos({ x: 0, y, w: COLUMNS, h: 1 }).build());
      y += 1;
    }
    let x = 0;
    for (const [width, panel] of panels) {
      const built = panel.build();
      built.id = placed.length + 1;
      built.gridPos = { x, y, w: width, h: height };
      built.targets?.forEach((target, index) => {
        Object.assign(target, { refId: String.fromCharCode('A'.charCodeAt(0) + index) });
      });
      placed.push(built);
      x += width;
    }
    if (x !== COLUMNS) throw new RangeError(`a row must fill ${COLUMNS} columns, got ${x}`);
    y += height;
  }
  return tidy({ ...dashboard.build(), panels: placed });
}
