/** nginx before a backend: `limit_req` and `limit_conn`. */
import type { Limit } from '../limit.ts';
import { listen } from '../listen.ts';
import { nginxConfig } from '../nginx-config.ts';
import { findProgram, startProgram } from '../program.ts';
import { getFrom, type OpenServer, type Server } from '../server.ts';

const PER_SECOND = 20;
const BURST = 20;
const IN_FLIGHT = 5;

const RATE_ZONE = `limit_req_zone $binary_remote_addr zone=rate:1m rate=${PER_SECOND}r/s;`;
const IN_FLIGHT_ZONE = 'limit_conn_zone $binary_remote_addr zone=running:1m;';

const RATE_LATENCY_MS = 20;
const IN_FLIGHT_LATENCY_MS = 200;

/** nginx counts the burst in addition to the request that is due. */
const AT_ONCE = BURST + 1;

export const nginx = {
  'nginx-req': limitReq(
    `limit_req without burst, ${PER_SECOND} a second`,
    { kind: 'spaced', perSecond: PER_SECOND, burst: 1 },
    '',
  ),
  'nginx-req-burst': limitReq(
    `limit_req with burst=${BURST} nodelay, ${PER_SECOND} a second`,
    { kind: 'spaced', perSecond: PER_SECOND, burst: AT_ONCE },
    `burst=${BURST} nodelay`,
  ),
  'nginx-req-delay': limitReq(
    `limit_req with burst=${BURST}, which delays, ${PER_SECOND} a second`,
    { kind: 'spaced', perSecond: PER_SECOND, burst: AT_ONCE, isDelayed: true },
    `burst=${BURST}`,
  ),
  'nginx-conn': limitConn(429),
  'nginx-conn-503': limitConn(503),
} satisfies Record<string, Server>;

function limitReq(about: string, limit: Limit, burst: string): Server {
  const rules = `limit_req zone=rate ${burst}; limit_req_status 429;`;
  return server(about, limit, RATE_LATENCY_MS, RATE_ZONE, rules);
}

function limitConn(status: number): Server {
  const about = `limit_conn ${IN_FLIGHT} that says ${status}, backend of ${IN_FLIGHT_LATENCY_MS} ms`;
  const rules = `limit_conn running ${IN_FLIGHT}; limit_conn_status ${status};`;
  const limit: Limit = { kind: 'in-flight', limit: IN_FLIGHT };
  return server(about, limit, IN_FLIGHT_LATENCY_MS, IN_FLIGHT_ZONE, rules);
}

function server(
  about: string,
  limit: Limit,
  latencyMs: number,
  zone: string,
  rules: string,
): Server {
  return {
    about: `nginx: ${about}`,
    limit,
    latencyMs,
    missing: () => (findProgram('nginx') ? undefined : 'apt-get install nginx-light'),
    open: () => openNginx(zone, rules, latencyMs),
  };
}

async function openNginx(zone: string, rules: string, latencyMs: number): Promise<OpenServer> {
  const backend = await listen((_, response) => {
    setTimeout(() => response.end('ok'), latencyMs);
  });
  const program = await startProgram({
    files: (port, folder) => ({
      'nginx.conf': nginxConfig(port, folder, backend.port, zone, rules),
    }),
    command: (_, folder) => [
      findProgram('nginx') ?? 'nginx',
      ...['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'],
    ],
  });
  return {
    endpoint: getFrom(program.port),
    close: async () => {
      await program.stop();
      await backend.close();
    },
  };
}
