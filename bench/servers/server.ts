/** What the bench knows of a server. */
import type { Limit } from './limit.ts';

/** One request, as every client sends it. */
export interface Endpoint {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: none. */
  readonly body?: string;
}

export interface OpenServer {
  readonly endpoint: Endpoint;
  close(): Promise<void>;
}

export interface Server {
  /** One line for a reader. */
  readonly about: string;
  readonly limit: Limit;
  /** How long it takes over a request that it lets in, in milliseconds. */
  readonly latencyMs: number;
  /** How to install what is missing on this machine; undefined: nothing is. */
  missing?(): string | undefined;
  /** Starts a server, or takes a new key of one: no client has sent anything to it. */
  open(): Promise<OpenServer>;
}

/** A plain GET of what listens on a port of this machine. */
export function getFrom(port: number): Endpoint {
  return { url: `http://127.0.0.1:${port}/`, method: 'GET', headers: {} };
}
