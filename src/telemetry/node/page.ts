import { createServer, type Server } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { PrometheusExporter } from '@opentelemetry/exporter-prometheus';

/** Where Prometheus finds the metrics. */
const PATH = '/metrics';

/** Addresses that stand for all of them: no browser can open these. */
const EVERYWHERE = ['0.0.0.0', '::'];

/** Names that lead to this machine wherever they are looked up; the last one does in containers. */
const LOCAL_NAMES = ['localhost', 'host.docker.internal'];

function isLocal(host: string): boolean {
  return LOCAL_NAMES.includes(host) || host === '::1' || /^127\.[\d.]+$/.test(host);
}

/** A page of metrics that Prometheus can scrape. It keeps no process alive. */
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

  /** @returns its address, for this machine. Rejects where the port cannot be had */
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
   * A page for this machine alone is no page for a website whose name was made to lead here (DNS
   * rebinding). A page for others may have any name.
   */
  #isAllowed(header = ''): boolean {
    if (!isLocal(this.#address)) return true;
    const name = header.replace(/:\d+$/, '').toLowerCase();
    return name === this.#address || isLocal(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
  }

  /** Cuts off whoever is still reading. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
