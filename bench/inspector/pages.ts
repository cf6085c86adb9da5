/**
 * Opens pages of an inspector in a separate process, as browsers do. One process serves all
 * measurements, since each new process would slow the measured program down for a while.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

export const PAGES = 20;

/** The messages to the process: the address of an inspector to read, or to close all pages. */
type Order = { readonly read: string } | { readonly close: true };

/** The measured program's handle of the pages. */
export class Pages {
  readonly #process: ChildProcess = fork(fileURLToPath(import.meta.url), ['pages']);

  /** Opens all pages. One of them never reads. */
  open(url: string): Promise<void> {
    return this.#tell({ read: url });
  }

  close(): Promise<void> {
    return this.#tell({ close: true });
  }

  end(): void {
    this.#process.kill();
  }

  async #tell(order: Order): Promise<void> {
    this.#process.send(order);
    await once(this.#process, 'message');
  }
}

/** @returns a function that closes the pages */
async function open(url: string): Promise<() => void> {
  const { hostname, port } = new URL(url);
  const deaf = connect(Number(port), hostname).pause();
  deaf.on('error', () => {});
  deaf.write(`GET /events HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
  const readers: IncomingMessage[] = [];
  for (let page = 1; page < PAGES; page += 1) {
    const request = get(`${url}/events`, { agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    readers.push(response.resume());
  }
  return () => {
    deaf.destroy();
    for (const response of readers) response.destroy();
  };
}

function serve(): void {
  let close = () => {};
  process.on('message', async (order: Order) => {
    if ('read' in order) close = await open(order.read);
    else close();
    process.send?.('done');
  });
}

if (process.argv[2] === 'pages') serve();
