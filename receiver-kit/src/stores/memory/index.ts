export { createMemoryClaims } from "./claims.ts";
export { createMemoryStore, type MemoryStoreOptions } from "./store.ts";
