import { useCallback, useEffect, useState } from 'preact/hooks';
import type { FoundRequest } from '../wire-requests.ts';
import { linkOfAddress, setLink } from './address.ts';

/**
 * The request that is open.
 * - `otherRun`: the address names one of an inspector that is gone;
 * - `unknown`: the address names one that is not kept.
 */
export type Linked =
  | { readonly state: 'none' | 'otherRun' | 'unknown' }
  | {
      readonly state: 'found';
      readonly found: FoundRequest;
      /** Whether the address named it, so that it may be out of sight. */
      readonly isFromAddress: boolean;
    };

const NONE: Linked = { state: 'none' };

/** The request that the address names, and what changes it. */
export interface LinkedRequest {
  readonly linked: Linked;
  /** Opens a request, and names it in the address. */
  readonly open: (found: FoundRequest) => void;
  readonly close: () => void;
}

/** @param run when the inspector was started; undefined: that is not known yet */
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

/** @returns undefined where the server cannot be reached */
async function lookUp(run: number): Promise<Linked | undefined> {
  const link = linkOfAddress();
  if (link === undefined) return NONE;
  if (link.run !== run) return { state: 'otherRun' };
  const response = await fetch(`/request?id=${link.request}`).catch(() => undefined);
  if (response?.ok !== true) return undefined;
  const found = (await response.json()) as FoundRequest | null;
  return found === null ? { state: 'unknown' } : { state: 'found', found, isFromAddress: true };
}
