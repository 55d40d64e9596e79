export { createGateway, type Gateway } from "./app.ts";
export { type EdgeConfig, readEdgeConfig } from "./config.ts";
export { startCoreCheck } from "./core-check.ts";
export { createCoreTransport } from "./upstream.ts";
