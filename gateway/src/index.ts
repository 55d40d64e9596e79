export { createGateway, type Gateway } from "./app.ts";
export { type EdgeConfig, readEdgeSettings } from "./config.ts";
export { startCoreCheck } from "./core-check.ts";
export { createCoreTransport } from "./upstream.ts";
