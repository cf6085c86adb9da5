import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { overview } from './overview/overview.ts';
import { whySlow } from './why-slow/why-slow.ts';

/** Every dashboard, by the name of its file. */
export function dashboards(): Readonly<Record<string, Dashboard>> {
  return { 'overview.json': overview(), 'why-slow.json': whySlow() };
}

/** A dashboard as it is written to its file. */
export function written(dashboard: Dashboard): string {
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}
