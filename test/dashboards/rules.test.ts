import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startExporter } from './instruments.ts';
import { INTAKE_NAMES, renamed } from './intake-names.ts';
import { canRun, promtool, promtoolReading } from './programs.ts';

const FOLDER = fileURLToPath(new URL('../../dashboards/prometheus/', import.meta.url));
const RULES = join(FOLDER, 'rules.yml');
const TESTS = join(FOLDER, 'rules.test.yml');

interface Rule {
  readonly alert?: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

async function alerts(): Promise<readonly Rule[]> {
  const { groups } = parse(await readFile(RULES, 'utf8')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);
}

test('every alert says what is wrong and what to do, and has a test', async () => {
  const tests = await readFile(TESTS, 'utf8');
  const all = await alerts();
  expect(all).toHaveLength(7);
  for (const { alert, labels, annotations, for: lasting } of all) {
    expect(lasting).toMatch(/^\d+m$/);
    expect(labels?.severity).toMatch(/^(info|warning|critical)$/);
    expect(annotations?.summary).toContain('{{ $labels.headgate_name }}');
    expect(annotations?.description?.length).toBeGreaterThan(80);
    expect(tests).toContain(alert);
  }
});

describe.skipIf(!canRun('promtool'))('promtool', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'headgate-rules-'));
  });

  afterAll(() => rm(folder, { recursive: true }));

  test('takes the configuration and the rules', async () => {
    expect(await promtool('check', 'config', join(FOLDER, 'prometheus.yml'))).toContain('SUCCESS');
    expect(await promtool('check', 'rules', RULES)).toContain('SUCCESS');
  });

  test('finds that rules do as their tests say, for scraped names', async () => {
    expect(await promtool('test', 'rules', TESTS)).toContain('SUCCESS');
  });

  test('finds the same for names that the OTLP intake makes', async () => {
    await cp(RULES, join(folder, 'rules.yml'));
    const scraped = await readFile(TESTS, 'utf8');
    const taken = renamed(scraped);
    for (const name of ['headgate_request_duration_seconds_sum', 'headgate_circuit_state_ratio']) {
      expect(Object.values(INTAKE_NAMES).some((taken) => name.startsWith(taken))).toBe(true);
      expect(taken).toContain(name);
    }
    await writeFile(join(folder, 'rules.test.yml'), taken);
    expect(await promtool('test', 'rules', join(folder, 'rules.test.yml'))).toContain('SUCCESS');
  });

  test('fails when an alert is missing', async () => {
    const rules = await readFile(RULES, 'utf8');
    await writeFile(join(folder, 'rules.yml'), rules.replace('> 0.05', '> 0.5'));
    await cp(TESTS, join(folder, 'rules.test.yml'));
    await expect(promtool('test', 'rules', join(folder, 'rules.test.yml'))).rejects.toThrow();
  });

  test('takes the page of metrics, without a complaint', async () => {
    const exporter = await startExporter();
    await sleep(200);
    const page = await fetch(`http://127.0.0.1:${exporter.port}/metrics`).then((r) => r.text());
    await exporter.stop();
    const found = await promtoolReading(page, 'check', 'metrics');
    expect(found.trim()).toBe('');
  });
});
