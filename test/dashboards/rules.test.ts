import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
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
const TESTS = (await readdir(FOLDER)).filter((file) => file.endsWith('.test.yml'));

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
  const tests = await Promise.all(TESTS.map((file) => readFile(join(FOLDER, file), 'utf8')));
  const all = await alerts();
  expect(all).toHaveLength(16);
  for (const { alert, labels, annotations, for: lasting } of all) {
    expect(lasting).toMatch(/^\d+m$/);
    expect(labels?.severity).toMatch(/^(info|warning|critical)$/);
    expect(annotations?.summary).toContain('{{ $labels.headgate_name }}');
    expect(annotations?.description?.length).toBeGreaterThan(80);
    expect(tests.join()).toMatch(new RegExp(`alertname(: |=")${alert}\\b`));
  }
});

test('every alert names its runbook', async () => {
  for (const { alert, annotations } of await alerts()) {
    expect(annotations?.runbook_url).toBe(`docs/operating/alerts.md#${alert?.toLowerCase()}`);
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

  const testsIn = (within: string) =>
    promtool('test', 'rules', ...TESTS.map((file) => join(within, file)));

  test('finds that rules do as their tests say, for scraped names', async () => {
    expect(await testsIn(FOLDER)).toContain('SUCCESS');
  });

  test('finds the same for names that the OTLP intake makes', async () => {
    await cp(RULES, join(folder, 'rules.yml'));
    const taken = await Promise.all(
      TESTS.map(async (file) => {
        const text = renamed(await readFile(join(FOLDER, file), 'utf8'));
        await writeFile(join(folder, file), text);
        return text;
      }),
    );
    for (const name of ['headgate_byte_budget_usage_bytes', 'headgate_circuit_state_ratio']) {
      expect(Object.values(INTAKE_NAMES)).toContain(name);
      expect(taken.join()).toContain(`${name}{`);
    }
    expect(await testsIn(folder)).toContain('SUCCESS');
  });

  test('fails when an alert is missing', async () => {
    const rules = await readFile(RULES, 'utf8');
    for (const file of TESTS) await cp(join(FOLDER, file), join(folder, file));
    await writeFile(join(folder, 'rules.yml'), rules.replaceAll('> 0.05', '> 0.5'));
    await expect(testsIn(folder)).rejects.toThrow();
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
