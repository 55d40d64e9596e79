export { createGateway, type Gateway, type GatewayOptions } from "./app.ts";
export {
  ConfigError,
  type CoreTlsConfig,
  type GatewayConfig,
  readConfig,
  readTrustedProxies,
} from "./config.ts";
export type { GatewayLimits } from "./limits.ts";
export type { Log } from "./log.ts";
export { createCoreTransport } from "./upstream.ts";
