export type { Log } from "@activity/proto/log";
export { createGateway, type Gateway, type GatewayOptions } from "./app.ts";
export {
  ConfigError,
  type CoreTlsConfig,
  type EdgeConfig,
  type GatewayConfig,
  readConfig,
  readEdgeConfig,
} from "./config.ts";
export { startCoreCheck } from "./core-check.ts";
export type { GatewayLimits } from "./limits.ts";
export { createCoreTransport } from "./upstream.ts";
