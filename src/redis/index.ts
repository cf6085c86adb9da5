/** `headgate/redis`: the limits of one API key, shared by many processes through Redis or Valkey. */
export type { ExchangeReply, ExchangeRequest, WorkerShare } from '../fleet/protocol.ts';
export type { SharedStore } from '../fleet/shared-store.ts';
export type { OnStoreLoss, StoreSettings } from '../fleet/store-settings.ts';
export { type RedisClient, type RedisStoreOptions, redisStore } from './redis-store.ts';
