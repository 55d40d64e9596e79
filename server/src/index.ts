export { createServerApp, type ServerApp } from "./app.ts";
export { Permission } from "./caller.ts";
export { ConfigError, readConfig, type ServerConfig } from "./config.ts";
export type { Listener } from "./core-listener.ts";
export { MigrationError, migrate } from "./database/migrate.ts";
export { createLog, type Log } from "./log.ts";
export { createServiceCredential } from "./service-credential/create-service-credential.ts";
