import { invalidField } from './problem.ts';
import { isObject, type JsonObject } from './read-json.ts';

/** Readers of single fields. Each throws a 400 that names the field. A null is as good as missing. */

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
