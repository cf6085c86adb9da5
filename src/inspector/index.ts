import { basename } from 'node:path';
import { readAssets } from './assets.ts';
import { Token } from './guards.ts';
import { HttpServer } from './http-server.ts';
import { Monitor } from './monitor.ts';
import { type InspectorOptions, readInspectorOptions } from './options.ts';

export type { InspectorOptions } from './options.ts';

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
