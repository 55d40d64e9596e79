export { createServerApp, type ServerApp } from "./app.ts";
export { Permission } from "./caller.ts";
export { ConfigError, readConfig, type ServerConfig } from "./config.ts";
export type { Listener } from "./core-listener.ts";
export { MigrationError, migrate } from "./database/migrate.ts";
export { DomainError } from "./errors.ts";
export { createLog, type Log } from "./log.ts";
export { createLogWriter, type LogWriter } from "./log-writer.ts";
export {
  administerServiceCredentials,
  type CredentialAdministration,
  createServiceCredential,
} from "./service-credential/administration.ts";
export { PERMISSION_NAMES, parsePermissions } from "./service-credential/service-credential.ts";
