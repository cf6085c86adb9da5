/** The interface of a client, and its context. */
import type { Limit } from './limit.ts';
import type { Endpoint } from './server.ts';

export interface Task {
  /** The number of requests that must succeed. All are present from the start. */
  readonly requests: number;
  readonly endpoint: Endpoint;
  /** The server's limit, for clients that know it. */
  readonly limit: Limit;
}

export interface ClientContext extends Task {
  /**
   * A client calls this with the number of a request, from 0, when the request has ended. Clients
   * that do not learn the end of single requests need not call it.
   */
  ended(request: number, isOk: boolean): void;
}

export interface Client {
  /** A description in one line. */
  readonly about: string;
  /** Runs all requests. Resolves when each has succeeded or was given up. */
  run(context: ClientContext): Promise<unknown>;
}

/** Sends the request once. The body of an error is left unread, for clients that read it. */
export async function send(endpoint: Endpoint, signal?: AbortSignal): Promise<Response> {
  const { url, method, headers, body } = endpoint;
  const response = await fetch(url, {
    method,
    headers,
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  });
  if (response.ok) await response.arrayBuffer();
  return response;
}
