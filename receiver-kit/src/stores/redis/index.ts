export { createRedisClaims, type RunScript } from "./claims.ts";
export {
  createIoredisStore,
  createNodeRedisStore,
  type IoredisClient,
  type NodeRedisClient,
  type RedisStoreOptions,
} from "./store.ts";
