import type { IncomingMessage } from 'node:http';

/** An error in a request, found before the provider gets it. Each API has its own format for it. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  /** Such as `model_not_found`. */
  readonly code: string | undefined;
  /** The field that is wrong. */
  readonly param: string | undefined;
  /** The method that is allowed instead. */
  readonly allow: string | undefined;

  constructor(
    status: number,
    message: string,
    about: { code?: string; param?: string; allow?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.code = about.code;
    this.param = about.param;
    this.allow = about.allow;
  }
}

/** A field that is missing or malformed. */
export function invalidField(param: string, bound: string): Problem {
  return new Problem(400, `${param}: ${bound}`, { param });
}

/** A JSON object that is not validated: its fields may have any type. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The bytes of a request, at most `maxBytes`. Bytes beyond that are discarded as they arrive. */
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

/** The body of a request, and its size. */
export interface JsonBody {
  readonly json: JsonObject;
  readonly bytes: number;
}

/**
 * Reads the body as a JSON object.
 *
 * @throws Problem 413 above `maxBytes`, 400 if it is not a JSON object
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

/** Readers of single fields. Each throws a 400 that names the field. A null counts as missing. */

export function requireText(body: JsonObject, field: string): string {
  const value = body[field];
  if (typeof value !== 'string' || value === '') throw invalidField(field, 'a string is required');
  return value;
}

export function requireList(body: JsonObject, field: string): readonly unknown[] {
  const value = body[field];
  if (!Array.isArray(value) || value.length === 0) {
    throw invalidField(field, 'a list that is not empty is required');
  }
  return value;
}

export function optionalCount(body: JsonObject, field: string, most: number): number | undefined {
  const value = body[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > most) {
    throw invalidField(field, `an integer from 1 to ${most} is required`);
  }
  return value;
}

export function optionalFlag(body: JsonObject, field: string): boolean {
  const value = body[field] ?? false;
  if (typeof value !== 'boolean') throw invalidField(field, 'true or false is required');
  return value;
}

export function optionalObject(body: JsonObject, field: string): JsonObject {
  const value = body[field] ?? {};
  if (!isObject(value)) throw invalidField(field, 'an object is required');
  return value;
}
