/** What a client is given, and what it has to do. */
import type { Limit } from './limit.ts';
import type { Endpoint } from './server.ts';

export interface Task {
  /** How many requests it has to bring to success. All are there from the start. */
  readonly requests: number;
  readonly endpoint: Endpoint;
  /** For clients that are told it. */
  readonly limit: Limit;
}

export interface ClientContext extends Task {
  /**
   * To be called with the number of a request, from 0, whenever the client is told that it has ended.
   * Clients that are told nothing need not.
   */
  ended(request: number, isOk: boolean): void;
}

export interface Client {
  /** One line for a reader. */
  readonly about: string;
  /** Resolves when every request has succeeded or was given up. */
  run(context: ClientContext): Promise<unknown>;
}

/** Sends the request once. What is not ok keeps its body, for a client that reads errors. */
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
