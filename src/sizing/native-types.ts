import type { types as NodeTypes } from 'node:util';

/** The checks for built-in objects that sizing needs. */
type NativeTypes = Pick<
  typeof NodeTypes,
  'isAnyArrayBuffer' | 'isNumberObject' | 'isStringObject' | 'isBooleanObject' | 'isBigIntObject'
>;

/**
 * Node's, which know objects of other realms (Jest makes such). Browsers lack them. Not an import,
 * so that bundles for browsers need no replacement of a Node module.
 */
export const types: NativeTypes = (typeof process === 'undefined'
  ? undefined
  : process.getBuiltinModule?.('node:util')
)?.types ?? {
  isAnyArrayBuffer: (value): value is ArrayBufferLike =>
    value instanceof ArrayBuffer ||
    (typeof SharedArrayBuffer === 'function' && value instanceof SharedArrayBuffer),
  isNumberObject: (value): value is number => value instanceof Number,
  isStringObject: (value): value is string => value instanceof String,
  isBooleanObject: (value): value is boolean => value instanceof Boolean,
  isBigIntObject: (value): value is bigint => value instanceof BigInt,
};
