// One worker of a fleet under test, told by its first argument what to be and by lines of JSON what
// to do. It tells what happens to it in lines of JSON.
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLimiter } from 'headgate';
import { redisStore } from 'headgate/redis';

const settings = JSON.parse(process.argv[2]);
const {
  name,
  kind,
  port,
  password,
  offlineQueue = false,
  serverPort,
  lanes,
  store,
  limits,
} = settings;
const tell = (fact) => process.stdout.write(`${JSON.stringify(fact)}\n`);

let skippedMs = 0;

async function connected() {
  const reconnectMs = 200;
  if (kind === 'ioredis') {
    const { Redis } = await import('ioredis');
    const client = new Redis(port, '127.0.0.1', {
      password,
      retryStrategy: () => reconnectMs,
      enableOfflineQueue: offlineQueue,
      maxRetriesPerRequest: offlineQueue ? null : 1,
      socketTimeout: 2_000,
    });
    client.on('error', () => {});
    await new Promise((ready) => client.once('ready', ready));
    return { client, end: () => client.disconnect() };
  }
  const { createClient } = await import('redis');
  const client = createClient({
    password,
    disableOfflineQueue: !offlineQueue,
    pingInterval: 500,
    socket: { host: '127.0.0.1', port, reconnectStrategy: reconnectMs, socketTimeout: 2_000 },
  });
  client.on('error', () => {});
  await client.connect();
  return { client, end: () => client.close() };
}

/** The same client with a clock of its own instead of the server's. */
function withClock(client) {
  const time = () => `${Math.floor((Date.now() + skippedMs) * 1_000)}`;
  const call = (method) => (first, options) =>
    client[method](first, { ...options, arguments: [...options.arguments, time()] });
  return { eval: call('eval'), evalSha: call('evalSha') };
}

const agent = new Agent({ keepAlive: true });

function send(id) {
  const at = performance.timeOrigin + performance.now();
  return new Promise((resolve, reject) => {
    const path = `/?worker=${name}&id=${id}&at=${at}`;
    request({ host: '127.0.0.1', port: serverPort, path, agent }, (response) => {
      response.resume().once('end', resolve).once('error', reject);
    })
      .once('error', reject)
      .end();
  });
}

const { client, end } = await connected();
const shared = redisStore(settings.hasClock ? withClock(client) : client, store);
const limiter = createLimiter({ adaptive: false, ...limits, shared });
limiter.events$.subscribe(({ kind, at, ...event }) => tell({ event: kind, ...event }));
process.on('warning', ({ message }) => tell({ warning: message }));
process.on('unhandledRejection', (error) => tell({ unhandled: String(error) }));

const counts = { begun: 0, ended: 0, failed: 0 };
const errors = new Set();
let isOn = true;

async function lane() {
  while (isOn) {
    counts.begun += 1;
    const id = counts.begun;
    try {
      await limiter.run(() => send(id));
      counts.ended += 1;
    } catch (error) {
      counts.failed += 1;
      errors.add(`${error.code ?? error.name}: ${error.message}`);
      await sleep(100);
    }
  }
}

const running = Array.from({ length: lanes }, lane);
tell({ ready: true });

async function finish() {
  isOn = false;
  await Promise.all(running);
  limiter.close();
  await limiter.drain();
  await end();
  agent.destroy();
  process.stdin.destroy();
  tell({ report: { ...counts, errors: [...errors] } });
  // Nothing keeps the process alive from here on.
}

process.on('SIGTERM', finish);
createInterface({ input: process.stdin }).on('line', (line) => {
  const told = JSON.parse(line);
  // Between two callbacks: a request that is let through is also sent before the process stops.
  if (told.stop === true) process.kill(process.pid, 'SIGSTOP');
  if (told.skipMs !== undefined) skippedMs += told.skipMs;
  if (told.configure !== undefined) limiter.configure(told.configure);
  if (told.finish === true) void finish();
});
