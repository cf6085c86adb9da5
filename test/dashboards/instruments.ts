import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Attributes, Meter } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { GATE_COLOURS } from '../../dashboards/src/colours.ts';
import { POLICY_METRICS } from '../../src/policies/policies.ts';
import type { Metric } from '../../src/telemetry/meter.ts';
import { METRICS } from '../../src/telemetry/metrics.ts';

export const GATES: readonly string[] = Object.keys(GATE_COLOURS);
const LIMITERS = ['batch', 'chat'];
/** Between two moments at which something is recorded. */
const STEP_MS = 50;

/** One series: where it belongs, and how much it grows a second, or is. */
type Point = readonly [attributes: Attributes, value: number];

const each = (key: string, values: Readonly<Record<string, number>>): Point[] =>
  Object.entries(values).map(([text, value]) => [{ [key]: text }, value]);
const alone = (value: number): Point[] => [[{}, value]];
/** Waits for a rate limit name it. */
const waits = (value: number): Point[] =>
  GATES.map((gate) => [
    { 'headgate.gate': gate, ...(gate === 'rateLimit' && { 'headgate.limit': 'rpm' }) },
    value,
  ]);
const byGate = (value: number): Point[] => GATES.map((gate) => [{ 'headgate.gate': gate }, value]);

/** Growth a second. */
const COUNTERS: readonly (readonly [metric: keyof typeof METRICS, points: Point[]])[] = [
  [
    'requests',
    each('headgate.outcome', { ok: 20, failed: 2, rejected: 1, cancelled: 1, reclaimed: 0 }),
  ],
  ['requestSize', alone(50_000)],
  ['tokens', alone(12_000)],
  ['givenUp', byGate(0.5)],
  [
    'adaptations',
    [
      [{ 'headgate.what': 'rate', 'headgate.reason': 'rejected' }, 0.1],
      [{ 'headgate.what': 'rate', 'headgate.reason': 'accepted' }, 0.3],
    ],
  ],
  ['suspensions', each('headgate.reason', { quota: 0.1 })],
  ['rateCuts', alone(0.1)],
  ['rateDenied', each('headgate.limit', { rpm: 2, tpm: 0 })],
  [
    'attempts',
    [
      [{}, 20],
      [{ 'error.type': '429' }, 2],
      [{ 'error.type': 'TypeError' }, 1],
    ],
  ],
  ['chunkFlushes', each('headgate.reason', { items: 3, delay: 1 })],
  ['storeCalls', each('headgate.outcome', { ok: 30, failed: 1 })],
  ['lostLeases', alone(0.1)],
  ['fleetHandovers', alone(0.1)],
];

const SHOWN: readonly (readonly [metric: keyof typeof METRICS, points: Point[]])[] = [
  ['concurrencyLimit', each('headgate.mode', { normal: 400, throttled: 10 })],
  ['bytesUsed', alone(4e6)],
  ['bytesLimit', alone(5e6)],
  ['rateUsed', each('headgate.limit', { rpm: 59, tpm: 1000 })],
  ['rateLimit', each('headgate.limit', { rpm: 60, tpm: 90_000 })],
  ['backoffActive', alone(1)],
  ['mode', each('headgate.mode', { normal: 0, throttled: 1 })],
  ['circuit', each('headgate.state', { closed: 0, open: 1, 'half-open': 0 })],
  ['interval', alone(0.2)],
  ['rateTarget', each('headgate.source', { limit: 30, headers: 25, learned: 20 })],
  ['rateCeiling', alone(21)],
  ['outage', alone(1)],
  ['paused', alone(0)],
  ['progressCompleted', alone(300)],
  ['progressExpected', alone(1000)],
  ['fleetShare', alone(0.25)],
  ['fleetWorkers', alone(4)],
  ['fleetLeads', alone(1)],
  ['storeAway', each('headgate.meanwhile', { pause: 0, share: 1 })],
];

/** The same, and other gauges of policies. */
const GAUGES = [
  ...SHOWN,
  ...(Object.keys(POLICY_METRICS) as (keyof typeof POLICY_METRICS)[])
    .filter((key) => SHOWN.every(([shown]) => shown !== key))
    .map((key) => [key, alone(3)] as const),
];

const UP_DOWN_COUNTERS: readonly (readonly [metric: keyof typeof METRICS, points: Point[]])[] = [
  ['queued', byGate(7)],
  ['active', alone(9)],
];

/** What is recorded at each step. */
const HISTOGRAMS: readonly (readonly [metric: keyof typeof METRICS, points: Point[]])[] = [
  [
    'requestDuration',
    [
      [{}, 3],
      [{ 'error.type': '429' }, 4],
    ],
  ],
  [
    'attemptDuration',
    [
      [{}, 2],
      [{ 'error.type': '429' }, 0.2],
    ],
  ],
  ['waitDuration', waits(0.2)],
  ['estimate', each('headgate.kind', { text: 2_000, image: 300_000 })],
  ['estimateRatio', each('headgate.unit', { bytes: 1.1, tokens: 0.9 })],
  ['backoffDuration', each('headgate.source', { retry_after: 2, computed: 1 })],
  ['chunkSize', alone(80)],
  ['storeDuration', alone(0.002)],
];

/** The attributes of each metric, by its name in the table. */
export function attributesOf(): ReadonlyMap<string, ReadonlySet<string>> {
  const tables = [...COUNTERS, ...GAUGES, ...UP_DOWN_COUNTERS, ...HISTOGRAMS];
  return new Map(
    tables.map(([key, points]) => [
      METRICS[key].name,
      new Set(['headgate.name', ...points.flatMap(([attributes]) => Object.keys(attributes))]),
    ]),
  );
}

/** Serves the metrics of a program that uses two limiters with everything that they have. */
export async function startExporter(): Promise<{ port: number; stop(): Promise<void> }> {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const resource = resourceFromAttributes({ 'service.name': 'synthetic' });
  const provider = new MeterProvider({ resource, readers: [exporter] });
  const recording = record(provider.getMeter('headgate'));
  const server = createServer((request, response) => {
    exporter.getMetricsRequestHandler(request, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      clearInterval(recording);
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await provider.shutdown();
    },
  };
}

/** An instrument as the table of metrics has it. */
function optionsOf(key: keyof typeof METRICS) {
  const { name, unit, meaning, buckets }: Metric = METRICS[key];
  if (buckets === undefined) return { name, unit, description: meaning };
  return { name, unit, description: meaning, advice: { explicitBucketBoundaries: [...buckets] } };
}

function record(meter: Meter): NodeJS.Timeout {
  const named = (points: Point[]) =>
    LIMITERS.flatMap((name) =>
      points.map(([attributes, value]): Point => [{ 'headgate.name': name, ...attributes }, value]),
    );
  for (const [key, points] of GAUGES) {
    const { name, ...options } = optionsOf(key);
    const gauge = meter.createObservableGauge(name, options);
    gauge.addCallback((result) => {
      for (const [attributes, value] of named(points)) result.observe(value, attributes);
    });
  }
  for (const [key, points] of UP_DOWN_COUNTERS) {
    const { name, ...options } = optionsOf(key);
    const counter = meter.createUpDownCounter(name, options);
    for (const [attributes, value] of named(points)) counter.add(value, attributes);
  }
  const steps = [
    ...COUNTERS.map(([key, points]) => {
      const { name, ...options } = optionsOf(key);
      const counter = meter.createCounter(name, options);
      return () => {
        for (const [labels, value] of named(points)) counter.add((value * STEP_MS) / 1000, labels);
      };
    }),
    ...HISTOGRAMS.map(([key, points]) => {
      const { name, ...options } = optionsOf(key);
      const histogram = meter.createHistogram(name, options);
      return () => {
        for (const [labels, value] of named(points)) histogram.record(value, labels);
      };
    }),
  ];
  return setInterval(() => {
    for (const step of steps) step();
  }, STEP_MS);
}
