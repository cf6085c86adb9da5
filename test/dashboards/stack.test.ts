import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { dashboards } from '../../dashboards/src/dashboards.ts';

const FOLDER = new URL('../../dashboards/', import.meta.url);
const pathOf = (file: string) => fileURLToPath(new URL(file, FOLDER));

async function read<T>(file: string): Promise<T> {
  return parse(await readFile(pathOf(file), 'utf8')) as T;
}

interface Service {
  readonly image: string;
  readonly ports: readonly string[];
  readonly volumes?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly extra_hosts?: readonly string[];
}

const { services } = await read<{ services: Readonly<Record<string, Service>> }>('compose.yaml');

test('every image is pinned, and every port is for this machine alone', () => {
  expect(Object.keys(services).sort()).toEqual(['grafana', 'jaeger', 'prometheus']);
  for (const { image, ports } of Object.values(services)) {
    expect(image).toMatch(/:v?\d+\.\d+\.\d+$/);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:(\d+):\1$/);
  }
});

test('what is mounted is there', () => {
  const mounted = Object.values(services).flatMap(({ volumes = [] }) => volumes);
  expect(mounted).toHaveLength(3);
  for (const volume of mounted) expect(existsSync(pathOf(volume.split(':')[0] ?? ''))).toBe(true);
});

test('Grafana opens with the overview, and finds the dashboards and both sources', async () => {
  const mount = services.grafana?.volumes?.find((volume) => volume.startsWith('./grafana:'));
  const folder = mount?.split(':')[1];
  const home = services.grafana?.environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH;
  expect(home).toBe(`${folder}/overview.json`);
  expect(Object.keys(dashboards())).toContain('overview.json');
  const { providers } = await read<{ providers: { options: { path: string } }[] }>(
    'provisioning/dashboards/headgate.yaml',
  );
  expect(providers.map(({ options }) => options.path)).toEqual([folder]);
  const { datasources } = await read<{ datasources: { type: string; url: string }[] }>(
    'provisioning/datasources/headgate.yaml',
  );
  const hosts = datasources.map(({ type, url }) => [type, new URL(url).hostname]);
  expect(hosts).toEqual([
    ['prometheus', 'prometheus'],
    ['jaeger', 'jaeger'],
  ]);
});

test('Prometheus takes in OTLP, and reaches a program on this machine', async () => {
  expect(services.prometheus?.command).toContain('--web.enable-otlp-receiver');
  const { scrape_configs: scrapes } = await read<{
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  }>('prometheus/prometheus.yml');
  const targets = scrapes.flatMap((scrape) => scrape.static_configs.flatMap((one) => one.targets));
  expect(targets).toEqual(['host.docker.internal:9464']);
  expect(services.prometheus?.extra_hosts).toEqual(['host.docker.internal:host-gateway']);
});
