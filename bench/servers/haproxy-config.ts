/**
 * HAProxy with a stick table, which counts all requests of a window, denied ones too.
 * @param rest the configuration lines for admitted requests
 */
export function haproxyConfig(
  port: number,
  limit: number,
  windowMs: number,
  rest: readonly string[],
): string {
  return `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend api
  bind 127.0.0.1:${port}
  stick-table type ip size 1k expire 60s store http_req_rate(${windowMs}ms)
  http-request track-sc0 src
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt ${limit} }
  ${rest.join('\n')}
`;
}
