/** `headgate/redis`: the limits of one API key, shared by many processes through Redis or Valkey. */
export type { ExchangeReply, ExchangeRequest, WorkerShare } from '../fleet/protocol.ts';
export type { OnStoreLoss, SharedStore, StoreSettings } from '../fleet/shared-store.ts';
export { type RedisClient, type RedisStoreOptions, redisStore } from './redis-store.ts';
