import { at, isObject, type JsonObject, textAt } from './json.ts';

/** An endpoint of an API: its URL, and how its bodies and answers are read. */
export interface Endpoint {
  /** From the root of the API. */
  readonly url: string;
  /** The field of a body that has the prompt. */
  readonly promptField: 'messages' | 'input';
  /** The body of a prompt. */
  bodyOf(prompt: string): JsonObject;
  /** The answer as text; undefined: the response has no text. */
  textOf(response: unknown): string | undefined;
  /** The most tokens that an answer to a body may have; undefined: the body sets no limit. */
  maxOutputOf(body: JsonObject): number | undefined;
}

export const API_NAMES = ['chat', 'responses', 'embeddings', 'anthropic'] as const;
export type ApiName = (typeof API_NAMES)[number];

/** Anthropic requires `max_tokens`; other APIs do not. */
const ANTHROPIC_MAX_TOKENS = 1024;

const chat: Endpoint = {
  url: '/v1/chat/completions',
  promptField: 'messages',
  bodyOf: (prompt) => ({ messages: [{ role: 'user', content: prompt }] }),
  textOf: (response) => partsOf(at(response, 'choices', 0, 'message', 'content')),
  maxOutputOf: (body) => numberIn(body, 'max_completion_tokens') ?? numberIn(body, 'max_tokens'),
};

const responses: Endpoint = {
  url: '/v1/responses',
  promptField: 'input',
  bodyOf: (prompt) => ({ input: prompt }),
  textOf: (response) => {
    const output = at(response, 'output');
    if (!Array.isArray(output)) return textAt(response, 'output_text');
    const texts = output.map((item) => partsOf(at(item, 'content'))).filter(isText);
    return texts.length === 0 ? undefined : texts.join('');
  },
  maxOutputOf: (body) => numberIn(body, 'max_output_tokens'),
};

const embeddings: Endpoint = {
  url: '/v1/embeddings',
  promptField: 'input',
  bodyOf: (prompt) => ({ input: prompt }),
  textOf: (response) => {
    const vectors = at(response, 'data');
    if (!Array.isArray(vectors)) return undefined;
    const all = vectors.map((vector) => at(vector, 'embedding'));
    return JSON.stringify(all.length === 1 ? all[0] : all);
  },
  maxOutputOf: () => 0,
};

const anthropic: Endpoint = {
  url: '/v1/messages',
  promptField: 'messages',
  bodyOf: (prompt) => ({
    messages: [{ role: 'user', content: prompt }],
    max_tokens: ANTHROPIC_MAX_TOKENS,
  }),
  textOf: (response) => partsOf(at(response, 'content')),
  maxOutputOf: (body) => numberIn(body, 'max_tokens'),
};

export const ENDPOINTS: Readonly<Record<ApiName, Endpoint>> = {
  chat,
  responses,
  embeddings,
  anthropic,
};

/** The endpoint of a URL; undefined: an unknown one, whose bodies are sent as they are. */
export function endpointOf(url: string): Endpoint | undefined {
  return Object.values(ENDPOINTS).find((endpoint) => endpoint.url === url);
}

/** A path below `/v1`. With `..` it could lead to other parts of the server. */
const URL_PATH = /^\/v1\/(?!.*\.\.)[\w/.-]+$/;

/** Whether the url of a request is a path of the API. */
export function isApiPath(url: unknown): url is string {
  return typeof url === 'string' && URL_PATH.test(url);
}

/** The first text of an answer, found by the shape of the answer alone. */
export function answerText(response: unknown): string | undefined {
  for (const endpoint of Object.values(ENDPOINTS)) {
    const text = endpoint.textOf(response);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The text of content that is a string, or a list of parts of which some have text. */
function partsOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content
    .filter(isObject)
    .map((part) => textAt(part, 'text'))
    .filter(isText);
  return texts.length === 0 ? undefined : texts.join('');
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}

function numberIn(body: JsonObject, key: string): number | undefined {
  const value = body[key];
  return typeof value === 'number' ? value : undefined;
}
