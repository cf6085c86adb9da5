import { createServer, type Server } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { PrometheusExporter } from '@opentelemetry/exporter-prometheus';

/** Where Prometheus finds the metrics. */
const PATH = '/metrics';

/** Addresses that stand for all addresses. A browser cannot open them. */
const EVERYWHERE = ['0.0.0.0', '::'];

/** Names that always resolve to this machine; the last one in containers. */
const LOCAL_NAMES = ['localhost', 'host.docker.internal'];

function isLocal(host: string): boolean {
  return LOCAL_NAMES.includes(host) || host === '::1' || /^127\.[\d.]+$/.test(host);
}

/** A metrics page for Prometheus. It does not keep the process alive. */
export class MetricsPage {
  readonly exporter: PrometheusExporter;
  readonly #server: Server;
  /** The address that it listens at. */
  #address = '';

  constructor(exporter: PrometheusExporter) {
    this.exporter = exporter;
    this.#server = createServer((request, response) => {
      if (!this.#isAllowed(request.headers.host)) response.writeHead(403).end();
      else if (request.url?.split('?')[0] !== PATH) response.writeHead(404).end();
      else if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.writeHead(405, { allow: 'GET, HEAD' }).end();
      } else this.exporter.getMetricsRequestHandler(request, response);
    }).unref();
  }

  /** @returns its address on this machine. Rejects if the port is not available */
  async open(host: string, port: number): Promise<string> {
    this.#address = host;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, resolve);
    });
    const { port: given } = this.#server.address() as AddressInfo;
    const shown = EVERYWHERE.includes(host) ? '127.0.0.1' : host;
    return `http://${shown.includes(':') ? `[${shown}]` : shown}:${given}${PATH}`;
  }

  /**
   * A page on a loopback address must not be read by a website whose name resolves to it (DNS
   * rebinding). A page on another address may have any name.
   */
  #isAllowed(header = ''): boolean {
    if (!isLocal(this.#address)) return true;
    const name = header.replace(/:\d+$/, '').toLowerCase();
    return name === this.#address || isLocal(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
  }

  /** Closes all connections. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
