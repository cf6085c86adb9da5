import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy between a worker and its store, whose connections a test can disturb. */
export interface Proxy {
  readonly port: number;
  /** The target of new connections. */
  target: number;
  /** The delay in each direction, in ms. */
  delayMs: number;
  /** Resets all connections. */
  cut(): void;
  /** Keeps all connections open without passing data any more. New ones are not affected. */
  forget(): void;
  /** Resets each connection as the store has answered, so that the answer is lost. */
  losesAnswers: boolean;
  stop(): Promise<void>;
}

interface Way {
  readonly near: Socket;
  readonly far: Socket;
  isForgotten: boolean;
}

export async function startProxy(target: number): Promise<Proxy> {
  const ways = new Set<Way>();
  const reset = ({ near, far }: Way) => {
    near.resetAndDestroy();
    far.destroy();
  };
  const proxy: Proxy = {
    port: 0,
    target,
    delayMs: 0,
    losesAnswers: false,
    cut: () => ways.forEach(reset),
    forget: () => {
      for (const way of ways) way.isForgotten = true;
    },
    stop: async () => {
      proxy.cut();
      await new Promise((done) => server.close(done));
    },
  };
  const server = createServer((near) => {
    const far = connect(proxy.target, '127.0.0.1');
    const way: Way = { near, far, isForgotten: false };
    ways.add(way);
    const pass = (to: Socket, data: Buffer) => {
      const write = () => {
        if (!way.isForgotten && !to.destroyed) to.write(data);
      };
      if (proxy.delayMs > 0) setTimeout(write, proxy.delayMs);
      else write();
    };
    near.on('data', (data) => pass(far, data));
    far.on('data', (data) => {
      if (proxy.losesAnswers) reset(way);
      else pass(near, data);
    });
    for (const socket of [near, far]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        ways.delete(way);
        // The other end never hears of a connection that is forgotten.
        if (!way.isForgotten) for (const each of [near, far]) each.destroy();
      });
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return Object.assign(proxy, { port: (server.address() as AddressInfo).port });
}
