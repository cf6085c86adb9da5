import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboards, written } from './dashboards.ts';
import { sharedForm } from './shared-form.ts';

/** Writes the dashboards; run from the root of the repository. */
const FOLDER = join('dashboards', 'grafana');
/** The same in the form that grafana.com takes. */
const SHARED = join('dashboards', 'grafana.com');

for (const folder of [FOLDER, SHARED]) mkdirSync(folder, { recursive: true });
for (const [file, dashboard] of Object.entries(dashboards())) {
  const forms = [
    [join(FOLDER, file), dashboard],
    [join(SHARED, file), sharedForm(dashboard)],
  ] as const;
  for (const [path, form] of forms) {
    writeFileSync(path, written(form));
    console.log(path);
  }
}
