/** HAProxy with a stick table, which counts what it denies, too. */
import { findProgram, startProgram } from '../program.ts';
import { getFrom, type Server } from '../server.ts';

const LIMIT = 60;
const WINDOW_MS = 6_000;

export const haproxy = {
  haproxy: {
    about: `HAProxy: http_req_rate of ${LIMIT} in ${WINDOW_MS / 1000} s; what is denied counts`,
    limit: { kind: 'sliding', limit: LIMIT, windowMs: WINDOW_MS },
    latencyMs: 0,
    missing: () => (findProgram('haproxy') ? undefined : 'apt-get install haproxy'),
    open: async () => {
      const program = await startProgram({
        files: (port) => ({ 'haproxy.cfg': config(port) }),
        command: (_, folder) => [
          findProgram('haproxy') ?? 'haproxy',
          ...['-db', '-f', `${folder}/haproxy.cfg`],
        ],
      });
      return { endpoint: getFrom(program.port), close: () => program.stop() };
    },
  },
} satisfies Record<string, Server>;

function config(port: number): string {
  return `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend api
  bind 127.0.0.1:${port}
  stick-table type ip size 1k expire 60s store http_req_rate(${WINDOW_MS}ms)
  http-request track-sc0 src
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt ${LIMIT} }
  http-request return status 200 content-type text/plain string ok
`;
}
