/** Rate limiters of other projects, each in front of a backend. */
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { haproxyConfig } from '../servers/haproxy-config.ts';
import { listen } from '../servers/listen.ts';
import { nginxConfig } from '../servers/nginx-config.ts';
import { findProgram, startProgram } from '../servers/program.ts';

/** A server that limits requests in front of a backend. */
export interface LimitingServer {
  readonly about: string;
  /** The program that must be installed; undefined: none. */
  readonly program?: string;
  /** The time that a client with full knowledge would need for this number of requests, in ms. */
  idealMs(requests: number, callMs: number): number;
  /** @param backendPort the port of the backend */
  start(backendPort: number): Promise<{ readonly url: string; close(): Promise<void> }>;
}

const PER_SECOND = 20;
const BURST = 10;
const IN_FLIGHT = 5;
const WINDOW_MS = 5_000;
const IN_WINDOW = PER_SECOND * (WINDOW_MS / 1_000);

/** nginx counts the burst in addition to the request that is due. */
const bucketMs = (requests: number) => (Math.max(0, requests - BURST - 1) * 1_000) / PER_SECOND;

/** Each window begins with its first request. */
const windowMs = (requests: number) => Math.floor((requests - 1) / IN_WINDOW) * WINDOW_MS;

export const LIMITING_SERVERS: Readonly<Record<string, LimitingServer>> = {
  'nginx limit_req': {
    about: `${PER_SECOND}/s, burst ${BURST}`,
    program: 'nginx',
    idealMs: bucketMs,
    start: (port) =>
      startNginx(
        port,
        `limit_req_zone $binary_remote_addr zone=all:1m rate=${PER_SECOND}r/s;`,
        `limit_req zone=all burst=${BURST} nodelay; limit_req_status 429;`,
      ),
  },
  'nginx limit_conn': {
    about: `${IN_FLIGHT} at a time`,
    program: 'nginx',
    idealMs: (requests, callMs) => Math.ceil(requests / IN_FLIGHT) * callMs,
    start: (port) =>
      startNginx(
        port,
        'limit_conn_zone $binary_remote_addr zone=all:1m;',
        `limit_conn all ${IN_FLIGHT}; limit_conn_status 429;`,
      ),
  },
  haproxy: {
    about: `${IN_WINDOW} in ${WINDOW_MS / 1_000} s, and what is denied counts`,
    program: 'haproxy',
    // The first window was used at once, so the second opens at the rate at which the first
    // expires.
    idealMs: (requests) =>
      requests <= IN_WINDOW ? 0 : WINDOW_MS * (1 + (requests - IN_WINDOW) / IN_WINDOW),
    start: startHaproxy,
  },
  'express-rate-limit': {
    about: `${IN_WINDOW} in ${WINDOW_MS / 1_000} s, headers of draft 7`,
    idealMs: windowMs,
    start: startExpress,
  },
};

/** The reason why a server cannot be started on this machine; undefined: it can. */
export function missing({ program }: LimitingServer): string | undefined {
  return program === undefined || findProgram(program) !== undefined
    ? undefined
    : `${program} is not on this machine`;
}

async function startNginx(backendPort: number, zone: string, rules: string) {
  const program = await startProgram({
    files: (port, folder) => ({
      'nginx.conf': nginxConfig(port, folder, backendPort, zone, rules),
    }),
    command: (_port, folder) => [
      findProgram('nginx') ?? 'nginx',
      ...['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'],
    ],
  });
  return { url: `http://127.0.0.1:${program.port}`, close: () => program.stop() };
}

async function startHaproxy(backendPort: number) {
  const program = await startProgram({
    files: (port) => ({
      'haproxy.cfg': haproxyConfig(port, IN_WINDOW, WINDOW_MS, [
        'default_backend model',
        'backend model',
        `  server model 127.0.0.1:${backendPort}`,
      ]),
    }),
    command: (_port, folder) => [
      findProgram('haproxy') ?? 'haproxy',
      ...['-db', '-f', `${folder}/haproxy.cfg`],
    ],
  });
  return { url: `http://127.0.0.1:${program.port}`, close: () => program.stop() };
}

async function startExpress(backendPort: number) {
  const app = express();
  app.use(
    rateLimit({
      windowMs: WINDOW_MS,
      limit: IN_WINDOW,
      standardHeaders: 'draft-7',
      legacyHeaders: false,
    }),
  );
  app.use(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await fetch(`http://127.0.0.1:${backendPort}${request.url}`, {
      method: 'POST',
      body: Buffer.concat(chunks),
    });
    response
      .status(answer.status)
      .type('json')
      .send(await answer.text());
  });
  const { port, close } = await listen(app);
  return { url: `http://127.0.0.1:${port}`, close };
}
