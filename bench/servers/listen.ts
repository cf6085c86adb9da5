/** HTTP servers of this process. */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import { getFrom, type OpenServer } from './server.ts';

export interface Listening extends OpenServer {
  readonly port: number;
}

export async function listen(handler: RequestListener): Promise<Listening> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  const { port } = address;
  return {
    port,
    endpoint: getFrom(port),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
