import type { IncomingMessage } from 'node:http';
import { Problem } from './problem.ts';

/** A JSON object as it came: nothing is known of its fields. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The bytes of a request, at most `maxBytes`. What comes above is thrown away as it comes. */
async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => {
    request.resume();
    return new Problem(413, `Request exceeds the maximum size of ${maxBytes} bytes.`);
  };
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else {
        chunks.length = 0;
        reject(tooLarge());
      }
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => {
      if (!request.complete) reject(new Error('the client left while it sent its request'));
    });
  });
}

/** What a request's body says, and how large it was. */
export interface JsonBody {
  readonly json: JsonObject;
  readonly bytes: number;
}

/**
 * Reads the body as a JSON object.
 *
 * @throws Problem 413 above `maxBytes`, 400 when it is no JSON object
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<JsonBody> {
  const body = await readBytes(request, maxBytes);
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch {
    throw new Problem(400, 'The body of the request is not valid JSON.');
  }
  if (!isObject(json)) throw new Problem(400, 'The body of the request must be a JSON object.');
  return { json, bytes: body.length };
}
