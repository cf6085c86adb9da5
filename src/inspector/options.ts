import { checkBoolean, checkInteger, checkKeys, show } from '../util/check.ts';

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
export interface InspectorSettings {
  readonly port: number;
  readonly host: string;
  readonly controls: boolean;
  readonly showValues: boolean;
  readonly traceUrl: string | undefined;
}

/** @throws RangeError or TypeError that names the option, its bound and the value */
export function readInspectorOptions(options: InspectorOptions): InspectorSettings {
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
