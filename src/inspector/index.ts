import { basename } from 'node:path';
import { checkBoolean, checkInteger, checkKeys, show } from '../util/check.ts';
import { HttpServer, readAssets } from './http-server.ts';
import { Monitor } from './monitor.ts';
import { Token } from './replies.ts';

/** How the inspector is served, and what it shows. */
export interface InspectorOptions {
  /** 0 to 65535; 0: any free port. Default 4600. */
  readonly port?: number;
  /** The address to listen at. Default `127.0.0.1`: this machine alone. */
  readonly host?: string;
  /**
   * Whether the page may change concurrency and limits, pause, resume and drain; with the token of
   * the printed address alone. Default false: it can only be looked at.
   */
  readonly controls?: boolean;
  /** Whether the values of requests are shown, up to 400 characters of each. Default false. */
  readonly showValues?: boolean;
  /**
   * The address of a trace, with `{traceId}` in it: `http://localhost:16686/trace/{traceId}` for
   * Jaeger. Requests that are traced link to it. Default: no links.
   */
  readonly traceUrl?: string;
}

const DEFAULT_PORT = 4_600;
const LAST_PORT = 65_535;

const KEYS = ['port', 'host', 'controls', 'showValues', 'traceUrl'] as const;

/** Options with their defaults. */
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
    throw new TypeError(`\`host\` must be an address of this machine, got ${show(host)}`);
  }
  checkBoolean('controls', controls);
  checkBoolean('showValues', showValues);
  if (traceUrl !== undefined) checkTraceUrl(traceUrl);
  return { port, host, controls, showValues, traceUrl };
}

/** A link on the page: it must not be able to run a script. */
function checkTraceUrl(traceUrl: unknown): void {
  const isText = typeof traceUrl === 'string' && traceUrl.includes('{traceId}');
  if (isText && URL.canParse(traceUrl) && /^https?:$/.test(new URL(traceUrl).protocol)) return;
  throw new TypeError(
    `\`traceUrl\` must be an http or https URL with {traceId} in it, got ${show(traceUrl)}`,
  );
}

/** How often everything is looked at, and pages are told. */
const LOOK_MS = 250;

/** A page that runs. */
export interface Inspector {
  /** Where the page is; with `controls` the token is in it. */
  readonly url: string;
  /** Shows open pages the last state, and ends them. */
  close(): Promise<void>;
}

/** The one that runs. */
let running: string | undefined;

/**
 * Serves a page that shows where every request waits: all limiters, groups and streams of this
 * process, those that were made before too. It is pushed four times a second, keeps a quarter of an
 * hour and 2,000 requests, and works offline. It does not keep the process alive.
 *
 * @throws RangeError or TypeError that names a wrong option; Error where an inspector runs already
 * @returns rejects where the port cannot be had
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
  let closed: Promise<void> | undefined;
  const close = async () => {
    clearInterval(timer);
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
