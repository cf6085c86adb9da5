import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** What `headgate/telemetry` needs, and nobody else. */
const SDK = [
  '@opentelemetry/exporter-metrics-otlp-proto',
  '@opentelemetry/exporter-prometheus',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-node',
  '@opentelemetry/sdk-trace',
];

/** What is copied into the command. */
const BUNDLED = [
  'bullmq',
  'cli-truncate',
  'commander',
  'csv-parse',
  'ioredis',
  'lmdb',
  'string-width',
  'tinyglobby',
  'undici',
];

/** What each folder of src may import: other folders, and packages. Arrows run one way. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  util: [],
  model: ['util'],
  sizing: ['util', 'model', 'node:'],
  policies: ['util', 'model'],
  queue: ['util', 'model', 'policies'],
  providers: ['util', 'model'],
  options: ['util', 'model', 'policies'],
  request: [
    'fleet',
    'util',
    'model',
    'sizing',
    'policies',
    'options',
    'queue',
    'providers',
    'telemetry',
    'rxjs',
  ],
  operators: [
    'util',
    'model',
    'sizing',
    'policies',
    'options',
    'queue',
    'providers',
    'request',
    'rxjs',
  ],
  limiter: [
    'fleet',
    'util',
    'model',
    'policies',
    'options',
    'queue',
    'providers',
    'request',
    'rxjs',
    'node:',
  ],
  fleet: ['util', 'model', 'policies', 'queue', 'telemetry'],
  redis: ['fleet', 'util', 'node:'],
  simulator: ['util', 'model', 'policies', 'queue', 'node:'],
  telemetry: ['util', 'model', 'policies', '@opentelemetry/api'],
  'telemetry/node': ['telemetry', 'util', 'model', 'node:', '@opentelemetry/api', ...SDK],
  'advanced.ts': [
    'fleet',
    'util',
    'model',
    'sizing',
    'policies',
    'options',
    'providers',
    'queue',
    'request',
    'limiter',
    'operators',
    'telemetry',
  ],
  ai: ['util', 'sizing', 'providers', 'request', 'limiter', 'rxjs'],
  inspector: ['util', 'model', 'policies', 'queue', 'request', 'limiter', 'node:'],
  bullmq: ['util', 'queue', 'request', 'limiter'],
  'inspector/page': ['inspector', 'preact', 'preact/hooks', 'uplot'],
  batch: [
    'headgate',
    'headgate/advanced',
    'headgate/bullmq',
    'headgate/inspector',
    'headgate/redis',
    'headgate/telemetry',
    'util',
    'sizing',
    'rxjs',
    'node:',
    ...BUNDLED,
  ],
  'index.ts': [
    'fleet',
    'util',
    'model',
    'sizing',
    'policies',
    'options',
    'queue',
    'providers',
    'request',
    'operators',
    'limiter',
    'telemetry',
  ],
};

const SRC = fileURLToPath(new URL('../src', import.meta.url));
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+'([^']+)'|import\('([^']+)'\)|(?:^|\n)import\s+'([^']+)'/g;

function folderOf(path: string): string {
  if (/^telemetry\/node[./]/.test(path)) return 'telemetry/node';
  if (path.startsWith('inspector/page/')) return 'inspector/page';
  return path.split('/')[0] ?? path;
}

/** The imports of a file that its folder may not have. */
function violations(path: string, source: string): string[] {
  const from = folderOf(path);
  const found: string[] = [];
  for (const match of source.matchAll(IMPORT)) {
    const specifier = match[1] ?? match[2] ?? match[3] ?? '';
    const target = specifier.startsWith('.')
      ? folderOf(normalize(join(dirname(path), specifier)))
      : specifier.startsWith('node:')
        ? 'node:'
        : specifier;
    if (target !== from && !ARROWS[from]?.includes(target)) found.push(`${path} -> ${specifier}`);
  }
  return found;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((file) => relative(SRC, join(SRC, file)).replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'));

describe('the imports between the folders of src', () => {
  it('all have an allowed direction', () => {
    expect(files.length).toBeGreaterThan(40);
    expect(
      files.flatMap((file) => violations(file, readFileSync(join(SRC, file), 'utf8'))),
    ).toEqual([]);
  });

  it('are reported if they have a forbidden direction', () => {
    const wrong = [
      "import { Subject } from 'rxjs';",
      "import type { Gate } from '../queue/gate.ts';",
      "export { x } from '@opentelemetry/api';",
      "const late = await import('../operators/throttle.ts');",
      "import {\n  a,\n  b,\n} from '../limiter/limiter.ts';",
    ];
    for (const line of wrong) expect(violations('policies/pace.ts', line)).toHaveLength(1);
    expect(violations('policies/pace.ts', "import { x } from '../model/x.ts';")).toEqual([]);
  });

  it('keep the code of fleets out of programs without a store', () => {
    const users = files.filter((file) => /^(request|operators|limiter)\//.test(file));
    for (const file of users) {
      const source = readFileSync(join(SRC, file), 'utf8');
      expect(source, file).not.toMatch(/import (?!type )[^;]*'\.\.\/fleet\//);
    }
  });

  it('have a rule for every folder', () => {
    for (const file of files) expect(Object.keys(ARROWS)).toContain(folderOf(file));
  });
});

describe('the main entry', () => {
  it('needs no package beyond the peers at run time', () => {
    const manifest = JSON.parse(readFileSync(join(SRC, '../package.json'), 'utf8'));
    expect(manifest.dependencies).toBeUndefined();
    const isOptional = (name: string) => manifest.peerDependenciesMeta[name]?.optional === true;
    const peers = Object.keys(manifest.peerDependencies).sort();
    expect(peers.filter((name) => !isOptional(name))).toEqual(['@opentelemetry/api', 'rxjs']);
    expect(peers.filter(isOptional)).toEqual([...SDK, 'ai', 'bullmq', 'ioredis', 'lmdb', 'redis']);
    for (const hook of ['preinstall', 'install', 'postinstall', 'prepare']) {
      expect(manifest.scripts[hook]).toBeUndefined();
    }
  });
});
