/** `headgate/redis`: the limits of one API key, shared by many processes through Redis or Valkey. */
export type {
  ExchangeReply,
  ExchangeRequest,
  OnStoreLoss,
  SharedStore,
  StoreSettings,
  WorkerShare,
} from '../fleet/protocol.ts';
export { type RedisClient, type RedisStoreOptions, redisStore } from './redis-store.ts';
