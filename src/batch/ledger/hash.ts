import { hash } from 'node:crypto';

/** Hexadecimal digits of the hash of a request. */
const HASH_DIGITS = 32;

/** Names the content of a request: two requests of one hash are the same. */
export function hashRequest(url: string, body: unknown): string {
  return hash('sha256', `${url}\n${JSON.stringify(body)}`).slice(0, HASH_DIGITS);
}

/** The part of that which the ledger keeps in memory: 28 bits. */
export function shortHash(requestHash: string): number {
  return Number.parseInt(requestHash.slice(0, 7), 16);
}
