export { createServerApp } from "./app.ts";
export { DomainError } from "./common/errors.ts";
export { createLogWriter, type LogWriter } from "./common/log-writer.ts";
export {
  readConfig,
  readCoreSettings,
  readDatabaseUrl,
  readSecretStorageConfig,
  type ServerConfig,
} from "./config.ts";
export { DatabaseUrlError } from "./database/database-url.ts";
export { migrate } from "./database/migrate.ts";
export { MigrationError } from "./database/migration-file.ts";
export {
  administerServiceCredentials,
  type CredentialAdministration,
  createServiceCredential,
} from "./service-credential/administration.ts";
export { Permission } from "./service-credential/permission.ts";
export {
  DEFAULT_VALIDITY_DAYS,
  MAX_VALIDITY_DAYS,
  PERMISSION_NAMES,
  parseCredentialName,
  parsePermissions,
  parseValidityDays,
} from "./service-credential/service-credential.ts";
export { type Reencrypted, reencryptSecrets } from "./signing-secret/reencrypt-secrets.ts";
export { nameOf as secretKeyName } from "./signing-secret/secret-cipher.ts";
