import { defaultProviders, readProviders } from './registry.ts';

/**
 * Says what an error or a response means, by its shape: `status`, `code`, `name` and `headers`, on
 * itself or on the `response`, `error` or `cause` in it. Uses headgate's own provider adapters.
 */
export const { classify, reportedLimits } = readProviders(defaultProviders);
