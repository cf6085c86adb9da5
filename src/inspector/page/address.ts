/** What the address of the page says behind its `#`. */

const TOKEN_KEY = 'headgate.token';

/** One request of one run of an inspector. */
export interface RequestLink {
  /** When that inspector was started, in milliseconds since 1970. */
  readonly run: number;
  readonly request: number;
}

/** The token of the printed address: kept for this tab, and taken out of the address. */
export function takeToken(): string | undefined {
  const said = parts();
  const token = said.get('token');
  if (token !== null && /^[\w-]+$/.test(token)) {
    sessionStorage.setItem(TOKEN_KEY, token);
    said.delete('token');
    replaceHash(said.toString());
  }
  return sessionStorage.getItem(TOKEN_KEY) ?? undefined;
}

/** The request that the address names; undefined: it names none. */
export function linkOfAddress(): RequestLink | undefined {
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

/** Names a request in the address, or none. The tab's history stays as it is. */
export function setLink(link: RequestLink | undefined): void {
  replaceHash(link === undefined ? '' : hashOf(link));
}

function parts(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

function replaceHash(hash: string): void {
  const end = hash === '' || hash.startsWith('#') ? hash : `#${hash}`;
  history.replaceState(null, '', location.pathname + end);
}
