import { findProgram, startProgram } from '../servers/program.ts';

/** Whether nginx is on this machine. */
export const hasNginx = findProgram('nginx') !== undefined;

export interface Nginx {
  readonly url: string;
  /** Requests that have come so far, rejected ones too. */
  requests(): Promise<number>;
  close(): Promise<void>;
}

/**
 * nginx before a server, which lets so many requests in a second and answers 429 to others.
 * @param burst requests that are let in at once after a rest
 */
export async function startNginx(
  backendPort: number,
  perSecond: number,
  burst: number,
): Promise<Nginx> {
  const program = await startProgram({
    files: (port, folder) => ({
      'nginx.conf': config(port, folder, backendPort, perSecond, burst),
    }),
    command: (_port, folder) => [
      findProgram('nginx') ?? 'nginx',
      ...['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'],
    ],
  });
  const url = `http://127.0.0.1:${program.port}`;
  return { url, requests: () => requestsAt(url), close: () => program.stop() };
}

/** What nginx says in its own words, its count of requests last but two; the question counts, too. */
async function requestsAt(url: string): Promise<number> {
  const text = await (await fetch(`${url}/status`)).text();
  const [, requests] = text.match(/\n\s*\d+\s+\d+\s+(\d+)/) ?? [];
  return Number(requests) - 1;
}

function config(
  port: number,
  folder: string,
  backendPort: number,
  perSecond: number,
  burst: number,
): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n  ');
  return `daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr crit;
events {}
http {
  access_log off;
  ${temporary}
  limit_req_zone $binary_remote_addr zone=all:1m rate=${perSecond}r/s;
  server {
    listen 127.0.0.1:${port};
    location = /status { stub_status; }
    location / {
      limit_req zone=all burst=${burst} nodelay;
      limit_req_status 429;
      proxy_pass http://127.0.0.1:${backendPort};
    }
  }
}
`;
}
