/** The amounts of telemetry of `throttle`, by the names that `--only` accepts. */
export const watchNames = [
  'telemetry-off',
  'telemetry-no-sdk',
  'telemetry-started',
  'telemetry-metrics',
  'telemetry-1-percent',
  'telemetry-all-spans',
] as const;

export type WatchName = (typeof watchNames)[number];

export function isWatchName(name: string): name is WatchName {
  return watchNames.some((known) => known === name);
}
