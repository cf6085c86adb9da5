import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';

/** Where Prometheus finds the metrics. */
const PATH = '/metrics';

/** Addresses that stand for all of them: no browser can open these. */
const EVERYWHERE = ['0.0.0.0', '::'];

/** A page of metrics that Prometheus can scrape. It keeps no process alive. */
export class MetricsPage {
  readonly exporter = new PrometheusExporter({ preventServerStart: true });
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      if (request.url?.split('?')[0] === PATH) {
        this.exporter.getMetricsRequestHandler(request, response);
      } else response.writeHead(404).end();
    }).unref();
  }

  /** @returns its address, for this machine. Rejects where the port cannot be had */
  async open(host: string, port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, resolve);
    });
    const { port: given } = this.#server.address() as AddressInfo;
    const shown = EVERYWHERE.includes(host) ? '127.0.0.1' : host;
    return `http://${shown.includes(':') ? `[${shown}]` : shown}:${given}${PATH}`;
  }

  /** Cuts off whoever is still reading. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
