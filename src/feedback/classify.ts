import { defaultProviders, readProviders } from './providers/registry.ts';

/**
 * What errors and responses mean, by their shape (`status`, `code`, `name`, `headers`, on themselves
 * or on the `response`, `error`, `cause` … in them), as headgate's own readers have it.
 */
export const { classify, reportedLimits } = readProviders(defaultProviders);
