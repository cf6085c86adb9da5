/** The interface of a server. */
import type { Limit } from './limit.ts';

/** The request that every client sends. */
export interface Endpoint {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** The body; undefined: none. */
  readonly body?: string;
}

export interface OpenServer {
  readonly endpoint: Endpoint;
  close(): Promise<void>;
}

export interface Server {
  /** A description in one line. */
  readonly about: string;
  readonly limit: Limit;
  /** The time in which the server answers an accepted request, in milliseconds. */
  readonly latencyMs: number;
  /** How to install missing programs; undefined: nothing is missing. */
  missing?(): string | undefined;
  /** Starts a new server, or makes a new key on a shared one, which no client has used. */
  open(): Promise<OpenServer>;
}

/** A plain GET to a port of this machine. */
export function getFrom(port: number): Endpoint {
  return { url: `http://127.0.0.1:${port}/`, method: 'GET', headers: {} };
}
