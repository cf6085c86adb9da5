import { ENDPOINTS, endpointOf } from '../endpoint.ts';
import { InputError } from '../errors.ts';
import { isObject, type JsonObject } from '../json.ts';

const MESSAGES = 'a list of messages, such as [{"role": "user", "content": "Hello"}]';
const INPUT = 'a text, or a list that is not empty';

/**
 * Checks the prompt in a body for mistakes that every server of its API would refuse.
 * @throws InputError
 */
export function checkPrompt(url: string, body: JsonObject, place: string): void {
  const field = endpointOf(url)?.promptField;
  if (field === undefined) return;
  const prompt = body[field];
  // A request may use a prompt that OpenAI stores: then it needs no input.
  if (prompt === undefined && url === ENDPOINTS.responses.url) return;
  if (prompt === undefined) throw new InputError(place, `the body has no "${field}"`);
  const isList = Array.isArray(prompt) && prompt.length > 0;
  const isGood =
    field === 'messages' ? isList && prompt.every(isObject) : isList || typeof prompt === 'string';
  if (isGood) return;
  const shown = JSON.stringify(prompt).slice(0, 80);
  const bound = field === 'messages' ? MESSAGES : INPUT;
  throw new InputError(place, `"${field}" must be ${bound}, got ${shown}`);
}
