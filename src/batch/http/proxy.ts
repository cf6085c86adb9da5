import {
  Agent,
  type buildConnector,
  type Dispatcher,
  EnvHttpProxyAgent,
  Pool,
  ProxyAgent,
} from 'undici';
import { BatchError, codeOf, messageOf } from '../errors.ts';
import { at } from '../json.ts';
import { shownUrl } from '../printable.ts';

/** The code of an error of a proxy that refuses the user or the server: it refuses all requests. */
export const PROXY_REFUSED = 'ERR_PROXY_REFUSED';

/** Undici reports the answer of a proxy that opens no tunnel only in words. */
const PROXY_STATUS = /^Proxy response \((\d+)\) !== 200/;
/** SOCKS works, but undici calls it experimental. */
const SCHEMES = /^(https?|socks5?):/i;
const HAS_SCHEME = /^[a-z][a-z\d+.-]*:\/\//i;

/**
 * A dispatcher for all requests of a run.
 * @param proxy URL of a proxy. Default: of the variables, as far as `NO_PROXY` does not except hosts
 * @throws BatchError for a proxy that is no URL
 */
export function dispatcherOf(proxy: string | undefined, options: Agent.Options): Dispatcher {
  if (proxy !== undefined) {
    const uri = proxyUrl('`proxy`', proxy);
    const clientFactory = proxyClients([{ name: 'the option proxy', url: uri }]);
    return new ProxyAgent({ ...options, uri, clientFactory });
  }
  const httpProxy = proxyIn('http_proxy');
  const httpsProxy = proxyIn('https_proxy');
  const proxies = [httpProxy, httpsProxy].filter((given) => given !== undefined);
  if (proxies.length === 0) return new Agent(options);
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: httpProxy?.url ?? '',
    httpsProxy: httpsProxy?.url ?? '',
    clientFactory: proxyClients(proxies),
  });
}

/** A proxy, and the option or variables that name it. */
interface Proxy {
  readonly name: string;
  readonly url: string;
}

/** No connection to a proxy could be made. */
export class ProxyDownError extends Error {
  readonly code: string | undefined;

  constructor(proxy: string, cause: Error) {
    super(`cannot reach the proxy ${proxy}: ${messageOf(at(cause, 'errors', 0) ?? cause)}`, {
      cause,
    });
    this.code = codeOf(cause);
  }
}

/** Makes connections to proxies, whose errors name the proxy. */
function proxyClients(proxies: readonly Proxy[]): NonNullable<ProxyAgent.Options['clientFactory']> {
  return (origin, options) => {
    const { connect } = options as { readonly connect: buildConnector.connector };
    const { href, host } = new URL(origin);
    const names = proxies.filter(({ url }) => new URL(url).href === href).map(({ name }) => name);
    const named: buildConnector.connector = (to, callback) => {
      connect(to, (...[error, socket]) => {
        if (error === null) callback(null, socket);
        else callback(new ProxyDownError(`${host} of ${names.join(' and ')}`, error), null);
      });
    };
    return new Pool(origin, { ...options, connect: named });
  };
}

/** The names of these variables are in use in lower and in upper case. */
function proxyIn(variable: string): Proxy | undefined {
  for (const name of [variable, variable.toUpperCase()]) {
    const text = process.env[name]?.trim() ?? '';
    if (text !== '') return { name, url: proxyUrl(name, text) };
  }
  return undefined;
}

/**
 * The URL of a proxy. As in other programs, it may be without `http://`.
 * @param name of the option or variable, for the error
 * @throws BatchError
 */
export function proxyUrl(name: string, text: string, schemes = SCHEMES): string {
  const url = HAS_SCHEME.test(text) ? text : `http://${text}`;
  if (URL.canParse(url) && schemes.test(url)) return url;
  throw new BatchError(`${name} must be an http or https URL, got ${shownUrl(text)}`);
}

/** What a proxy has answered to a request for a tunnel. @returns undefined: it opened one */
export function proxyProblem(error: unknown): { message: string; code: string } | undefined {
  if (codeOf(error) !== 'UND_ERR_ABORTED') return undefined;
  const [, status] = messageOf(error).match(PROXY_STATUS) ?? [];
  if (status === undefined) return undefined;
  const isTemporary = Number(status) >= 500 || status === '429';
  return {
    message: `the proxy answered ${status}`,
    code: isTemporary ? 'EHOSTUNREACH' : PROXY_REFUSED,
  };
}
