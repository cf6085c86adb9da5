import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { basename } from 'node:path';
import { checkBoolean, checkInteger, checkKeys, wrongType } from '../util/check.ts';
import { REQUESTS_OF_FETCH, warnOfSdkRetries } from '../util/sdk-retries.ts';
import { HttpServer, readAssets } from './http-server.ts';
import { Monitor } from './monitor.ts';
import { Token } from './replies.ts';

/** The options of `startInspector`. */
export interface InspectorOptions {
  /** The port of the page, 0 to 65535; 0 takes any free port. Default 4600. */
  readonly port?: number;
  /** The address to listen at. Default `127.0.0.1`, which only this machine can reach. */
  readonly host?: string;
  /**
   * Whether the page may change concurrency and limits, pause, resume and drain. Each change needs
   * the token that `url` contains. Default false: the page only shows.
   */
  readonly controls?: boolean;
  /** Whether the page shows the values of requests, up to 400 characters of each. Default false. */
  readonly showValues?: boolean;
  /**
   * The address of a trace in your tracing tool, with `{traceId}` as placeholder:
   * `http://localhost:16686/trace/{traceId}` for Jaeger. Each traced request links to its trace.
   * Default: no links.
   */
  readonly traceUrl?: string;
}

const DEFAULT_PORT = 4_600;
const LAST_PORT = 65_535;

const KEYS = ['port', 'host', 'controls', 'showValues', 'traceUrl'] as const;

/** The options with defaults filled in. */
interface InspectorSettings {
  readonly port: number;
  readonly host: string;
  readonly controls: boolean;
  readonly showValues: boolean;
  readonly traceUrl: string | undefined;
}

/** @throws RangeError or TypeError that names the option, its bound and the value */
function readInspectorOptions(options: InspectorOptions): InspectorSettings {
  checkKeys('startInspector', options, KEYS);
  const { port = DEFAULT_PORT, host = '127.0.0.1', traceUrl } = options;
  const { controls = false, showValues = false } = options;
  checkInteger('port', port, 0);
  if (port > LAST_PORT) {
    throw new RangeError(`\`port\` must be an integer <= ${LAST_PORT}, got ${port}`);
  }
  if (typeof host !== 'string' || host === '') {
    wrongType('host', 'an address of this machine', host);
  }
  checkBoolean('controls', controls);
  checkBoolean('showValues', showValues);
  if (traceUrl !== undefined) checkTraceUrl(traceUrl);
  return { port, host, controls, showValues, traceUrl };
}

/** Accepts http and https alone: a `javascript:` link on the page could run a script. */
function checkTraceUrl(traceUrl: unknown): void {
  const isText = typeof traceUrl === 'string' && traceUrl.includes('{traceId}');
  if (isText && URL.canParse(traceUrl) && /^https?:$/.test(new URL(traceUrl).protocol)) return;
  wrongType('traceUrl', 'an http or https URL with {traceId} in it', traceUrl);
}

/** The interval at which the inspector reads all gates and sends frames to its pages, in ms. */
const LOOK_MS = 250;

/** A running inspector. */
export interface Inspector {
  /** The address of the page. With `controls` it contains the token. */
  readonly url: string;
  /** Sends the last state to open pages, then stops the server. */
  close(): Promise<void>;
}

/** The address of the running inspector, for the error of a second one; undefined: none runs. */
let running: string | undefined;

/**
 * Serves a page that shows where every request waits, for all limiters, groups and streams of this
 * process, including those made before this call. The page is updated four times a second, shows
 * the last quarter of an hour and up to 2,000 requests, and works offline. The server does not keep
 * the process alive.
 *
 * @throws RangeError or TypeError that names a wrong option; Error if an inspector runs already
 * @returns rejects if the port is not available
 * @example
 * const inspector = await startInspector();
 * console.log(inspector.url); // http://127.0.0.1:4600
 */
export async function startInspector(options: InspectorOptions = {}): Promise<Inspector> {
  const { port, host, controls, showValues, traceUrl } = readInspectorOptions(options);
  if (running !== undefined) {
    throw new Error(`an inspector runs already at ${running}: close it first`);
  }
  running = `port ${port}`;
  let monitor: Monitor | undefined;
  try {
    const assets = await readAssets();
    monitor = new Monitor({
      showValues,
      keepsTraces: traceUrl !== undefined,
      wallNow: Date.now,
    });
    const token = controls ? new Token() : undefined;
    const server = new HttpServer({
      monitor,
      assets,
      host,
      token,
      hello: {
        pid: process.pid,
        program: basename(process.argv[1] ?? 'node'),
        node: process.version,
        startedAt: Date.now(),
        showsValues: showValues,
        traceUrl,
      },
    });
    const address = await server.open(port);
    running = address;
    return watch(
      monitor,
      server,
      token === undefined ? address : `${address}/#token=${token.text}`,
    );
  } catch (error) {
    monitor?.close();
    running = undefined;
    throw error;
  }
}

function watch(monitor: Monitor, server: HttpServer, url: string): Inspector {
  const timer = setInterval(() => {
    monitor.look();
    server.push();
  }, LOOK_MS);
  timer.unref();
  subscribe(REQUESTS_OF_FETCH, warnOfSdkRetries);
  let closed: Promise<void> | undefined;
  const close = async () => {
    clearInterval(timer);
    unsubscribe(REQUESTS_OF_FETCH, warnOfSdkRetries);
    monitor.look();
    await server.close();
    monitor.close();
    running = undefined;
  };
  return {
    url,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
