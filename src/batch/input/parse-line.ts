import { type ApiName, ENDPOINTS, endpointOf, isApiPath } from '../endpoint.ts';
import { InputError, messageOf } from '../errors.ts';
import { isObject, type JsonObject } from '../json.ts';
import { hashRequest } from '../ledger/ledger.ts';
import type { BatchRequest } from '../request.ts';
import { checkPrompt } from './check-prompt.ts';
import { markNumbers, unmarkNumbers, unmarkText } from './exact-numbers.ts';

/** Defaults for lines that leave these out. */
export interface LineDefaults {
  /** The API of bodies and prompts that name no url. Default `chat`. */
  readonly api: ApiName;
  /** The model of bodies that name none. */
  readonly model: string | undefined;
}

/** The fields of a line `{"custom_id", "method", "url", "body"}`, OpenAI's batch format. */
const BATCH_FIELDS = ['id', 'custom_id', 'method', 'url', 'body', 'metadata'];
const BATCH_MARKS = ['body', 'url', 'method'];

/** The longest id. Providers accept about 64 characters. */
const MAX_ID_BYTES = 4_096;

/** @throws InputError */
export function parseJsonLine(
  text: string,
  place: string,
  defaultId: string,
  defaults: LineDefaults,
): BatchRequest {
  const request = parseObject(text, text, place, defaultId, defaults);
  const marked = markNumbers(text);
  if (marked === undefined) return request;
  const { id, url, body } = parseObject(marked, text, place, defaultId, defaults);
  const json = unmarkNumbers(JSON.stringify(body));
  return { ...request, id: unmarkText(id), json, hash: hashRequest(url, json) };
}

/** @param text the line, for the hint of an error */
function parseObject(
  json: string,
  text: string,
  place: string,
  defaultId: string,
  defaults: LineDefaults,
): BatchRequest {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new InputError(place, `not JSON: ${messageOf(error)}${formHint(text)}`, error);
  }
  if (!isObject(value)) {
    throw new InputError(place, `a line must be a JSON object${formHint(text)}`);
  }
  if ('custom_id' in value && 'response' in value) {
    throw new InputError(place, 'this is a line of results: name the file of prompts as the input');
  }
  const isBatch = BATCH_MARKS.some((field) => field in value);
  return isBatch
    ? parseBatchLine(value, place, defaultId, defaults)
    : parseBody(value, place, defaultId, defaults);
}

/** A hint for formats that are often given instead of JSON lines. */
function formHint(text: string): string {
  const start = text.trimStart();
  if (start.startsWith('[')) {
    return " (of a JSON list, make one object a line: jq -c '.[]' list.json > lines.jsonl)";
  }
  if (start === '{') return ' (an object must stand on one line: jq -c . file.json > lines.jsonl)';
  return start.startsWith('{') ? '' : ' (for lines of plain text, say --text)';
}

function parseBatchLine(
  line: JsonObject,
  place: string,
  defaultId: string,
  defaults: LineDefaults,
): BatchRequest {
  const unknown = Object.keys(line).find((field) => !BATCH_FIELDS.includes(field));
  if (unknown !== undefined) {
    throw new InputError(
      place,
      `unknown field ${JSON.stringify(unknown)}: beside "body" a line has ${BATCH_FIELDS.join(', ')}; ` +
        'what is for the model goes into "body"',
    );
  }
  const { method = 'POST', url = ENDPOINTS[defaults.api].url, body } = line;
  if (body === undefined) {
    throw new InputError(place, 'the line has no "body": put the request into it');
  }
  if (!isObject(body)) throw new InputError(place, '"body" must be an object');
  if (method !== 'POST') {
    throw new InputError(place, `"method" must be "POST", got ${JSON.stringify(method)}`);
  }
  if (!isApiPath(url)) {
    throw new InputError(
      place,
      `"url" must be a path such as "/v1/chat/completions", got ${JSON.stringify(url)}`,
    );
  }
  return requestOf({ line, url, body, place, defaultId, defaults });
}

/** `{"prompt": …}` with any other fields of a body, or a body. */
function parseBody(
  line: JsonObject,
  place: string,
  defaultId: string,
  defaults: LineDefaults,
): BatchRequest {
  const { id: _id, custom_id: _customId, metadata: _metadata, prompt, ...fields } = line;
  const endpoint = ENDPOINTS[defaults.api];
  const { url, promptField } = endpoint;
  if (prompt !== undefined) {
    if (typeof prompt !== 'string') throw new InputError(place, '"prompt" must be a text');
    if (fields[promptField] !== undefined) {
      throw new InputError(place, `the line has both "prompt" and "${promptField}": leave one out`);
    }
    const body = { ...endpoint.bodyOf(prompt), ...fields };
    return requestOf({ line, url, body, place, defaultId, defaults });
  }
  if (fields[promptField] === undefined) {
    const other = promptField === 'input' ? 'messages' : 'input';
    const hint =
      fields[other] === undefined
        ? `a line has "prompt", "${promptField}" or "body"`
        : `for bodies with "${other}" say --api ${other === 'input' ? 'responses or --api embeddings' : 'chat'}`;
    throw new InputError(place, `there is nothing to send: ${hint}`);
  }
  return requestOf({ line, url, body: fields, place, defaultId, defaults });
}

/** A request of a prompt that is plain text: a line of text, or the result of a template. */
export function promptRequest(
  prompt: string,
  line: JsonObject,
  place: string,
  defaultId: string,
  defaults: LineDefaults,
): BatchRequest {
  const { url, bodyOf } = ENDPOINTS[defaults.api];
  return requestOf({ line, url, body: bodyOf(prompt), place, defaultId, defaults });
}

interface RequestParts {
  readonly line: JsonObject;
  readonly url: string;
  readonly body: JsonObject;
  readonly place: string;
  readonly defaultId: string;
  readonly defaults: LineDefaults;
}

function requestOf({ line, url, body, place, defaultId, defaults }: RequestParts): BatchRequest {
  const { model } = defaults;
  const whole = body.model === undefined && model !== undefined ? { model, ...body } : body;
  if (whole.model === undefined && endpointOf(url) !== undefined) {
    throw new InputError(place, 'no model: put "model" into the body, or say --model NAME');
  }
  checkPrompt(url, whole, place);
  if (whole.stream === true) {
    throw new InputError(place, '"stream": true has no place in a batch: leave it out');
  }
  const { metadata } = line;
  if (metadata !== undefined && !isObject(metadata)) {
    throw new InputError(place, '"metadata" must be an object');
  }
  return {
    id: idOf(line, place) ?? defaultId,
    url,
    body: whole,
    ...(metadata !== undefined && { metadata }),
    place,
    hash: hashOf(url, whole, metadata, place),
  };
}

/** @throws InputError for JSON that is too deeply nested to be written, and so to be sent */
function hashOf(url: string, body: JsonObject, metadata: unknown, place: string): string {
  try {
    if (metadata !== undefined) JSON.stringify(metadata);
    return hashRequest(url, JSON.stringify(body));
  } catch (error) {
    throw new InputError(place, `the line is nested too deeply: ${messageOf(error)}`, error);
  }
}

function idOf(line: JsonObject, place: string): string | undefined {
  const id = line.custom_id ?? line.id;
  const field = id === line.custom_id ? 'custom_id' : 'id';
  if (id === undefined || id === null) return undefined;
  if (typeof id === 'number') return String(id);
  if (typeof id !== 'string' || id === '') {
    throw new InputError(
      place,
      `"${field}" must be a text, got ${JSON.stringify(id).slice(0, 80)}`,
    );
  }
  const bytes = Buffer.byteLength(id);
  if (bytes > MAX_ID_BYTES) {
    throw new InputError(
      place,
      `"${field}" must have at most ${MAX_ID_BYTES} bytes, got ${bytes} ("${id.slice(0, 20)}…")`,
    );
  }
  return id;
}
