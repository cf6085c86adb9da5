import { types } from 'node:util';

/**
 * The bytes that a value holds as they are: Buffer, typed array, DataView, ArrayBuffer,
 * SharedArrayBuffer, Blob and File. undefined for any other object. Nothing is read or copied.
 */
export function binaryBytes(value: object): number | undefined {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (Object.getPrototypeOf(value) === Object.prototype) return undefined;
  if (types.isAnyArrayBuffer(value)) return value.byteLength;
  return value instanceof Blob ? value.size : undefined;
}
