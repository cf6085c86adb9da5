import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboards, written } from './dashboards.ts';

/** Writes the dashboards; run from the root of the repository. */
const FOLDER = join('dashboards', 'grafana');

mkdirSync(FOLDER, { recursive: true });
for (const [file, dashboard] of Object.entries(dashboards())) {
  writeFileSync(join(FOLDER, file), written(dashboard));
  console.log(join(FOLDER, file));
}
