import { type ProviderServer, serve } from '../../../src/simulator/http/serve.ts';
import type { ServeOptions } from '../../../src/simulator/http/serve-options.ts';
import { createProvider } from '../../../src/simulator/provider.ts';
import type { ProviderOptions } from '../../../src/simulator/provider-options.ts';

export type Json = { [key: string]: unknown };

/** Runs a test against a server of its own. */
export async function withServer<R>(
  options: ProviderOptions,
  body: (server: ProviderServer, provider: ReturnType<typeof createProvider>) => Promise<R>,
  serveOptions: ServeOptions = {},
): Promise<R> {
  const provider = createProvider(options);
  const server = await serve(provider, serveOptions);
  try {
    return await body(server, provider);
  } finally {
    await server.close();
  }
}

export function post(
  server: ProviderServer,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** The events of a stream: their names and their data, parsed where it is JSON. */
export function parseEvents(text: string): { name: string | undefined; data: unknown }[] {
  return text
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => {
      const name = /^event: (.*)$/m.exec(part)?.[1];
      const data = /^data: (.*)$/m.exec(part)?.[1] ?? '';
      return { name, data: data.startsWith('{') ? JSON.parse(data) : data };
    });
}

/** Nothing here is timed: this only ends a hang. */
const HANG_MS = 60_000;

/** Looks again after each turn of the event loop, until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  const startMs = performance.now();
  while (!holds()) {
    if (performance.now() - startMs > HANG_MS) throw new Error('it did not come true in a minute');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
