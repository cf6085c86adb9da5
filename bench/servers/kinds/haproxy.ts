/** HAProxy with a stick table, which counts denied requests too. */
import { haproxyConfig } from '../haproxy-config.ts';
import { findProgram, startProgram } from '../program.ts';
import { getFrom, type Server } from '../server.ts';

const LIMIT = 60;
const WINDOW_MS = 6_000;
const OK = 'http-request return status 200 content-type text/plain string ok';

export const haproxy = {
  haproxy: {
    about: `HAProxy: http_req_rate of ${LIMIT} in ${WINDOW_MS / 1000} s; what is denied counts`,
    limit: { kind: 'sliding', limit: LIMIT, windowMs: WINDOW_MS },
    latencyMs: 0,
    missing: () => (findProgram('haproxy') ? undefined : 'apt-get install haproxy'),
    open: async () => {
      const program = await startProgram({
        files: (port) => ({ 'haproxy.cfg': haproxyConfig(port, LIMIT, WINDOW_MS, [OK]) }),
        command: (_, folder) => [
          findProgram('haproxy') ?? 'haproxy',
          ...['-db', '-f', `${folder}/haproxy.cfg`],
        ],
      });
      return { endpoint: getFrom(program.port), close: () => program.stop() };
    },
  },
} satisfies Record<string, Server>;
