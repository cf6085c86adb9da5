import { createServer, get, request, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { type Meter as ApiMeter, propagation } from '@opentelemetry/api';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { ManualClock } from 'headgate/simulator';
import { from } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { byteEstimate, chunkBy, createLimiter } from '../../src/index.ts';
import { areContextsCarried } from '../../src/telemetry/context-propagator.ts';
import { type StartOptions, startTelemetry, type Telemetry } from '../../src/telemetry/node.ts';
import { startSdk, unregister } from './sdk.ts';

const servers: Server[] = [];
const started: Telemetry[] = [];
const lines: string[] = [];

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(String(line)));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((telemetry) => telemetry.shutdown()));
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  unregister();
  lines.length = 0;
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

async function start(options: Partial<StartOptions> = {}): Promise<Telemetry> {
  const telemetry = await startTelemetry({ serviceName: 'test', prometheusPort: 0, ...options });
  started.push(telemetry);
  return telemetry;
}

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** What a request that names a host is answered with. */
function statusOf(url: string, method: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { method, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

/** Takes OTLP in, and says which signals came. */
async function receiver() {
  const paths: string[] = [];
  const port = await listen(
    createServer((request, response) => {
      paths.push(`${request.method} ${request.url} ${request.headers['content-type']}`);
      request.resume().on('end', () => response.writeHead(200).end());
    }),
  );
  return { paths, endpoint: `http://127.0.0.1:${port}` };
}

/** The class of the SDK's meters. */
const Meter = new MeterProvider().getMeter('any').constructor as new () => ApiMeter;

/** Requests that record in most histograms, the same whenever they are made. */
async function useAllHistograms(): Promise<void> {
  const clock = new ManualClock();
  const limiter = createLimiter({ name: 'all', clock, concurrency: 1, random: () => 0.5 });
  let calls = 0;
  const task = async () => {
    await new Promise<void>((done) => clock.setTimer(done, 5_000));
    calls += 1;
    if (calls === 2) throw Object.assign(new Error('busy'), { status: 429 });
    if (calls === 4) throw new Error('broken');
    return { usage: { total_tokens: 10 } };
  };
  const call = () => limiter.run(task, { tokens: 20 });
  const ends = Promise.allSettled([call(), call(), call()]);
  from([1, 2, 3])
    .pipe(byteEstimate(undefined, { name: 'all' }), chunkBy({ maxItems: 2, clock, name: 'all' }))
    .subscribe();
  await clock.runAllAsync();
  await ends;
}

describe('startTelemetry', () => {
  it('serves the metrics page at 127.0.0.1, and stops serving it', async () => {
    const telemetry = await start();
    await createLimiter({ name: 'paged' }).run(async () => 1);
    const url = telemetry.prometheusUrl ?? '';
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    const page = await (await fetch(url)).text();
    expect(page).toMatch(
      /headgate_requests_total\{headgate_name="paged",headgate_outcome="ok".*\} 1/,
    );
    expect(page).toMatch(/target_info\{.*service_name="test"/);
    expect((await fetch(url.replace('/metrics', '/else'))).status).toBe(404);
    expect(telemetry.tracesEndpoint).toBeUndefined();
    await telemetry.shutdown();
    await expect(fetch(url)).rejects.toThrow();
    expect(lines).toEqual([]);
  });

  it('reports the process: an instance id, the host and the version', async () => {
    const page = async () => {
      const telemetry = await start({ serviceVersion: '7.1' });
      const text = await (await fetch(telemetry.prometheusUrl ?? '')).text();
      await telemetry.shutdown();
      unregister();
      return /target_info\{(.*)\}/.exec(text)?.[1] ?? '';
    };
    const id = (labels: string) => /service_instance_id="([^"]+)"/.exec(labels)?.[1];
    const one = await page();
    expect(one).toMatch(/host_name="[^"]+"/);
    expect(one).toMatch(/process_pid="\d+"/);
    expect(one).not.toContain('process_command_args');
    expect(one).toContain('service_version="7.1"');
    expect(id(one)).toMatch(/^[\da-f-]{36}$/);
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'service.instance.id=pod-1');
    expect(id(await page())).toBe('pod-1');
  });

  it('sends traces and metrics to the given OTLP endpoint, the last of them at shutdown', async () => {
    const { paths, endpoint } = await receiver();
    const telemetry = await start({ otlpEndpoint: endpoint, prometheusPort: false });
    expect(telemetry).toMatchObject({ tracesEndpoint: endpoint, metricsEndpoint: endpoint });
    await createLimiter().run(async () => 1);
    await telemetry.shutdown();
    expect(paths.sort()).toEqual([
      'POST /v1/metrics application/x-protobuf',
      'POST /v1/traces application/x-protobuf',
    ]);
  });

  it('gives the same histograms, aggregated by headgate or by the SDK', async () => {
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'service.instance.id=one');
    const page = async () => {
      const { endpoint } = await receiver();
      const telemetry = await start({ otlpEndpoint: endpoint });
      await useAllHistograms();
      const text = await (await fetch(telemetry.prometheusUrl ?? '')).text();
      await telemetry.shutdown();
      unregister();
      // A metric begins with its help. Their order has no meaning.
      return text.split(/^(?=# HELP )/m).map((metric) => metric.trim());
    };
    const createHistogram = vi.spyOn(Meter.prototype, 'createHistogram');
    const ours = await page();
    expect(createHistogram).not.toHaveBeenCalled();
    // Who wants differences by OTLP gets them from the SDK.
    vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', 'delta');
    const theirs = await page();
    expect(createHistogram).toHaveBeenCalled();
    const histograms = ours.filter((metric) => metric.includes(' histogram'));
    expect(histograms.length).toBeGreaterThan(5);
    expect(ours.sort()).toEqual(theirs.sort());
  });

  it('sends its histograms by OTLP too, the last of them at shutdown', async () => {
    const bodies: string[] = [];
    const port = await listen(
      createServer((request, response) => {
        request.setEncoding('latin1').on('data', (part) => bodies.push(part));
        request.on('end', () => response.writeHead(200).end());
      }),
    );
    const telemetry = await start({ otlpEndpoint: `http://127.0.0.1:${port}` });
    await createLimiter().run(async () => 1);
    const page = await (await fetch(telemetry.prometheusUrl ?? '')).text();
    await telemetry.shutdown();
    expect(page).toContain('headgate_attempt_duration_count');
    expect(bodies.join('')).toContain('headgate.attempt.duration');
  });

  it('leaves the histograms of a registered SDK with that SDK', async () => {
    const sdk = startSdk();
    const telemetry = await start();
    await createLimiter().run(async () => 1);
    const page = await (await fetch(telemetry.prometheusUrl ?? '')).text();
    const now = await sdk.collect();
    await sdk.stop();
    expect(now.histogram('headgate.request.duration').count).toBe(1);
    expect(page).not.toContain('headgate_request_duration');
    expect(lines).toEqual([
      'headgate telemetry: metrics stay with the OpenTelemetry SDK that is registered already',
    ]);
  });

  it('says which signals a registered SDK keeps', async () => {
    const { endpoint } = await receiver();
    const sdk = startSdk();
    const telemetry = await start({ otlpEndpoint: endpoint });
    await telemetry.shutdown();
    expect(lines).toEqual([
      'headgate telemetry: traces and metrics stay with the OpenTelemetry SDK that is registered already',
    ]);
    // It is still registered.
    await createLimiter().run(async () => 1);
    expect(sdk.finished('headgate.request')).toHaveLength(1);
    expect((await sdk.collect()).value('headgate.requests', { 'headgate.outcome': 'ok' })).toBe(1);
    await sdk.stop();
  });

  it('says so for an SDK that has shut down and is still registered, too', async () => {
    const { endpoint } = await receiver();
    const sdk = startSdk();
    await sdk.meterProvider.shutdown();
    await (await start({ otlpEndpoint: endpoint })).shutdown();
    expect(lines).toEqual([
      'headgate telemetry: traces and metrics stay with the OpenTelemetry SDK that is registered already',
    ]);
    await sdk.tracerProvider.shutdown();
  });

  it('can be started again after a shutdown', async () => {
    const { paths, endpoint } = await receiver();
    await (await start({ otlpEndpoint: endpoint })).shutdown();
    expect(areContextsCarried()).toBe(false);
    expect(propagation.fields()).toEqual([]);
    paths.length = 0;
    const telemetry = await start({ otlpEndpoint: endpoint });
    await createLimiter({ name: 'again' }).run(async () => 1);
    const page = await (await fetch(telemetry.prometheusUrl ?? '')).text();
    expect(page).toMatch(/headgate_requests_total\{headgate_name="again",.*"ok".*\} 1/);
    await telemetry.shutdown();
    expect(paths.sort()).toEqual([
      'POST /v1/metrics application/x-protobuf',
      'POST /v1/traces application/x-protobuf',
    ]);
    expect(lines).toEqual([]);
  });

  it('leaves an SDK alone that was registered after it', async () => {
    const telemetry = await start();
    unregister();
    const sdk = startSdk();
    await telemetry.shutdown();
    await createLimiter().run(async () => 1);
    expect(sdk.finished('headgate.request')).toHaveLength(1);
    await sdk.stop();
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'grpc'],
  ])('sends both signals as http/protobuf and says so if %s is %s', async (variable, value) => {
    const { paths, endpoint } = await receiver();
    vi.stubEnv(variable, value);
    const telemetry = await start({ otlpEndpoint: endpoint, prometheusPort: false });
    await createLimiter().run(async () => 1);
    await telemetry.shutdown();
    expect(paths.sort()).toEqual([
      'POST /v1/metrics application/x-protobuf',
      'POST /v1/traces application/x-protobuf',
    ]);
    expect(lines).toEqual([
      `headgate telemetry: the OTLP protocol ${value} is not supported; http/protobuf is used`,
    ]);
  });

  it('says that an exporter of metrics is not supported', async () => {
    vi.stubEnv('OTEL_METRICS_EXPORTER', 'console,prometheus');
    vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc');
    expect((await start()).prometheusUrl).toBeDefined();
    expect(lines).toEqual([
      'headgate telemetry: OTEL_METRICS_EXPORTER=console is not supported; it exports no metrics',
    ]);
  });

  it('follows the standard variables before its options', async () => {
    const { paths, endpoint } = await receiver();
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint);
    vi.stubEnv('OTEL_METRICS_EXPORTER', 'prometheus');
    vi.stubEnv('OTEL_SERVICE_NAME', 'said');
    const telemetry = await start({ otlpEndpoint: 'http://127.0.0.1:1' });
    expect(telemetry).toMatchObject({ tracesEndpoint: endpoint, metricsEndpoint: undefined });
    expect(await (await fetch(telemetry.prometheusUrl ?? '')).text()).toContain(
      'service_name="said"',
    );
    await createLimiter().run(async () => 1);
    await telemetry.shutdown();
    expect(paths).toEqual(['POST /v1/traces application/x-protobuf']);
    vi.stubEnv('OTEL_SDK_DISABLED', 'true');
    expect((await start()).prometheusUrl).toBeUndefined();
  });

  it('sends spans as often, and as many at once, as the variables of the batch say', async () => {
    const { paths, endpoint } = await receiver();
    vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '10');
    vi.stubEnv('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '4');
    await start({ otlpEndpoint: endpoint, prometheusPort: false });
    const limiter = createLimiter();
    // Each makes two spans: four are sent at once, two after the delay.
    await Promise.all([1, 2, 3].map((n) => limiter.run(async () => n)));
    const traces = () => paths.filter((path) => path.includes('/v1/traces'));
    // Long before the 5 s that it would be without them.
    await vi.waitFor(() => expect(traces()).toHaveLength(2), 4_000);
  });

  it('serves the page where the options say, and where the variables do before them', async () => {
    const everywhere = await start({ prometheusHost: '0.0.0.0' });
    expect(everywhere.prometheusUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    const { port } = new URL(everywhere.prometheusUrl ?? '');
    expect((await fetch(`http://127.0.0.2:${port}/metrics`)).status).toBe(200);
    unregister();
    vi.stubEnv('OTEL_EXPORTER_PROMETHEUS_HOST', 'localhost');
    vi.stubEnv('OTEL_EXPORTER_PROMETHEUS_PORT', '0');
    const said = await start({ prometheusHost: '0.0.0.0', prometheusPort: Number(port) });
    expect(said.prometheusUrl).toMatch(/^http:\/\/localhost:\d+\/metrics$/);
    expect(said.prometheusUrl).not.toContain(port);
  });

  it('goes on without a page if its port is in use, and says so in one line', async () => {
    const port = await listen(createServer());
    const telemetry = await start({ prometheusPort: port });
    expect(telemetry.prometheusUrl).toBeUndefined();
    expect(lines).toEqual([
      `headgate telemetry: no page of metrics at 127.0.0.1:${port}: the port is in use`,
    ]);
    expect(await createLimiter().run(async () => 1)).toBe(1);
  });

  it('shares its port with no other process of a node:cluster', async () => {
    const listening = vi.spyOn(NetServer.prototype, 'listen');
    await start();
    expect(listening.mock.lastCall?.[0]).toMatchObject({ port: 0, exclusive: true });
  });

  it('survives a collector that is down, and says so once for each signal', async () => {
    const telemetry = await start({ otlpEndpoint: 'http://127.0.0.1:9', prometheusPort: false });
    expect(await createLimiter().run(async () => 1)).toBe(1);
    const startedAt = performance.now();
    await telemetry.shutdown();
    await telemetry.shutdown();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    for (const signal of ['traces', 'metrics']) {
      expect(
        lines.filter((line) => line.includes(`${signal} could not be exported`)).length,
      ).toBeLessThan(2);
    }
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join()).not.toContain('shutdown: ');
    expect(lines.join()).not.toContain('\n');
  });

  it('ends its shutdown when both signals have been sent, if one of them fails at once', async () => {
    const ended: string[] = [];
    const port = await listen(
      createServer(({ url = '' }, response) => {
        if (url.endsWith('traces')) return void response.writeHead(404).end();
        // As a collector that restarts: the export is repeated.
        const status = ended.length === 0 ? 503 : 200;
        ended.push(`${url} ${status}`);
        response.writeHead(status, { 'retry-after': new Date(0).toUTCString() }).end();
      }),
    );
    const endpoint = `http://127.0.0.1:${port}`;
    const telemetry = await start({ otlpEndpoint: endpoint, prometheusPort: false });
    await createLimiter().run(async () => 1);
    await telemetry.shutdown();
    expect(ended).toEqual(['/v1/metrics 503', '/v1/metrics 200']);
    expect(lines).toEqual([
      `headgate telemetry: traces could not be exported, and are lost while that lasts: Not Found (404 from ${endpoint}/v1/traces)`,
    ]);
  });

  it('says that an endpoint is no address of HTTP', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317');
    vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', '127.0.0.1:4318/v1/metrics');
    const telemetry = await start();
    expect(telemetry).toMatchObject({ tracesEndpoint: undefined, metricsEndpoint: undefined });
    const why = 'has no effect: an address begins with http:// or https://';
    expect(lines).toEqual([
      `headgate telemetry: OTEL_EXPORTER_OTLP_ENDPOINT=collector:4317 ${why}`,
      `headgate telemetry: OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=127.0.0.1:4318/v1/metrics ${why}`,
    ]);
    await expect(start({ otlpEndpoint: 'localhost:4318' })).rejects.toThrow(
      '`otlpEndpoint` must be a URL, such as http://127.0.0.1:4318, got "localhost:4318"',
    );
  });

  it('ends an export after the time that the variables name', async () => {
    // It never answers.
    const port = await listen(createServer((request) => void request.resume()));
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '50');
    const telemetry = await start({
      otlpEndpoint: `http://127.0.0.1:${port}`,
      prometheusPort: false,
    });
    await createLimiter().run(async () => 1);
    await telemetry.shutdown();
    // Without it, the shutdown would end after 5 s and say so.
    expect(lines.filter((line) => line.includes('Request timed out'))).toHaveLength(2);
    expect(lines.join()).not.toContain('shutdown took');
  });

  it.each([
    ['GET', 'rebound.example', 403],
    ['GET', 'rebound.example:9464', 403],
    ['GET', '127.0.0.1.example', 403],
    ['POST', 'localhost', 405],
    ['DELETE', '127.0.0.1', 405],
    ['GET', 'localhost:9464', 200],
    ['GET', '[::1]:9464', 200],
    ['HEAD', '127.0.0.1', 200],
  ])('answers %s of the host %s with %i', async (method, host, status) => {
    const { prometheusUrl = '' } = await start();
    expect(await statusOf(prometheusUrl, method, host)).toBe(status);
  });

  it('answers under any name where it listens for others', async () => {
    const { prometheusUrl = '' } = await start({ prometheusHost: '0.0.0.0' });
    expect(await statusOf(prometheusUrl, 'GET', 'labeller:9464')).toBe(200);
  });

  it('shuts down while its page is being read', async () => {
    const telemetry = await start();
    const reading = get(telemetry.prometheusUrl ?? '', (response) => response.pause());
    reading.on('error', () => {});
    await new Promise((resolve) => reading.on('socket', resolve));
    const startedAt = performance.now();
    await telemetry.shutdown();
    // At most 5 s, and what a busy machine adds; without that bound it would never end.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    expect(await createLimiter().run(async () => 1)).toBe(1);
  });

  it.each([
    [{ serviceName: '' }, '`serviceName` must be a string of text, got ""'],
    [
      { prometheusPort: -1 },
      '`prometheusPort` must be an integer from 0 to 65535, or false, got -1',
    ],
    [{ prometheusPort: 70_000 }, '`prometheusPort` must be an integer from 0 to 65535, or false'],
    [{ prometheusPort: true }, '`prometheusPort` must be an integer from 0 to 65535, or false'],
    [{ prometheusHost: '' }, '`prometheusHost` must be an address, got ""'],
    [
      { otlpEndpoint: 'here' },
      '`otlpEndpoint` must be a URL, such as http://127.0.0.1:4318, got "here"',
    ],
    [{ sampleRatio: Number.NaN }, '`sampleRatio` must be a number from 0 to 1, got NaN'],
    [{ port: 1 }, '`port` is no option of startTelemetry'],
  ])('refuses %j', async (options, message) => {
    await expect(start(options as Partial<StartOptions>)).rejects.toThrow(message);
  });
});
