export { createGateway } from "./app.ts";
export { type EdgeConfig, readEdgeSettings } from "./config.ts";
export { startCoreCheck } from "./core-check.ts";
