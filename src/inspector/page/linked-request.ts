import { useCallback, useEffect, useState } from 'preact/hooks';
import type { FoundRequest } from '../wire-requests.ts';
import { readJson } from './read-json.ts';
import { keepInTab, keptInTab } from './tab-storage.ts';

/** Reads and writes the part of the page's address behind `#`: the token and the open request. */

const TOKEN_KEY = 'headgate.token';

/** One request of one run of an inspector. */
export interface RequestLink {
  /** When the inspector was started, in milliseconds since 1970. */
  readonly run: number;
  readonly request: number;
}

/** Moves the token from the address to the session storage of this tab, and returns it. */
export function takeToken(): string | undefined {
  const said = parts();
  const token = said.get('token');
  if (token === null || !/^[\w-]+$/.test(token)) return keptInTab(TOKEN_KEY);
  keepInTab(TOKEN_KEY, token);
  said.delete('token');
  replaceHash(said.toString());
  return token;
}

/** The request that the address names; undefined: it names none. */
function linkOfAddress(): RequestLink | undefined {
  const said = parts();
  const [run, request] = [Number(said.get('run') ?? Number.NaN), Number(said.get('request'))];
  return Number.isSafeInteger(run) && Number.isSafeInteger(request) && request > 0
    ? { run, request }
    : undefined;
}

/** The part of an address that opens a request. */
export function hashOf({ run, request }: RequestLink): string {
  return `#run=${run}&request=${request}`;
}

/** Writes a request into the address, or removes it, without a new entry in the tab's history. */
function setLink(link: RequestLink | undefined): void {
  replaceHash(link === undefined ? '' : hashOf(link));
}

function parts(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

function replaceHash(hash: string): void {
  const end = hash === '' || hash.startsWith('#') ? hash : `#${hash}`;
  history.replaceState(null, '', location.pathname + end);
}

/**
 * The request that is open.
 * - `otherRun`: the address names a request of an earlier inspector;
 * - `unknown`: the inspector does not keep the request that the address names.
 */
export type Linked =
  | { readonly state: 'none' | 'otherRun' | 'unknown' }
  | {
      readonly state: 'found';
      readonly found: FoundRequest;
      /** Whether it was opened by the address, so that its row may be out of sight. */
      readonly isFromAddress: boolean;
    };

const NONE: Linked = { state: 'none' };

/** The request that is open, and the functions that change it. */
export interface LinkedRequest {
  readonly linked: Linked;
  /** Opens a request, and writes it into the address. */
  readonly open: (found: FoundRequest) => void;
  readonly close: () => void;
}

/** @param run when the inspector was started, in ms since 1970; undefined: not known yet */
export function useLinkedRequest(run: number | undefined): LinkedRequest {
  const [linked, setLinked] = useState(NONE);
  useEffect(() => {
    if (run === undefined) return;
    let isGone = false;
    const read = async () => {
      const next = await lookUp(run);
      if (!isGone && next !== undefined) setLinked(next);
    };
    void read();
    const listen = () => void read();
    addEventListener('hashchange', listen);
    return () => {
      isGone = true;
      removeEventListener('hashchange', listen);
    };
  }, [run]);
  const open = useCallback(
    (found: FoundRequest) => {
      if (run !== undefined) setLink({ run, request: found.record.id });
      setLinked({ state: 'found', found, isFromAddress: false });
    },
    [run],
  );
  const close = useCallback(() => {
    setLink(undefined);
    setLinked(NONE);
  }, []);
  return { linked, open, close };
}

/** @returns the state of the request in the address; undefined: the server cannot be reached */
async function lookUp(run: number): Promise<Linked | undefined> {
  const link = linkOfAddress();
  if (link === undefined) return NONE;
  if (link.run !== run) return { state: 'otherRun' };
  const found = (await readJson(`request?id=${link.request}`)) as FoundRequest | null | undefined;
  if (found === undefined) return undefined;
  return found === null ? { state: 'unknown' } : { state: 'found', found, isFromAddress: true };
}
