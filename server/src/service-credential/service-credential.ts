import { hash, randomBytes } from "node:crypto";
import { DomainError, ErrorCode } from "../common/errors.ts";
import { Permission } from "./permission.ts";

const START = "act_svc_";
const FORM = /^act_svc_[0-9a-f]{64}$/;
const SECRET_BYTES = 32;
/**
 * The form of names, which is easy to type. No name looks like a command-line option, or like a credential, which is
 * longer.
 */
const NAME_FORM = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** How long a credential works by default. */
export const DEFAULT_VALIDITY_DAYS = 90;
/** The longest that a credential may work, the same as for API keys. */
export const MAX_VALIDITY_DAYS = 365;

export const PERMISSION_NAMES: readonly Permission[] = Object.values(Permission);

/** Returns a new service credential of 32 random bytes, and its hash. Only the hash is stored. */
export function newServiceCredential(): { secret: string; hash: Buffer } {
  const secret = START + randomBytes(SECRET_BYTES).toString("hex");
  return { secret, hash: hashServiceCredential(secret) };
}

/** Returns the stored hash of a service credential: the SHA-256 of its whole text. */
export function hashServiceCredential(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

export function isServiceCredentialText(text: string): boolean {
  return FORM.test(text);
}

export function isPermission(name: string): name is Permission {
  return PERMISSION_NAMES.some((permission) => permission === name);
}

/** The audit log gives this name to owners of accounts, so no credential may have it. */
const OWNERS_NAME = "session";

/** Parses the name of a credential. Fails with `invalid_parameter`. */
export function parseCredentialName(text: string): string {
  if (NAME_FORM.test(text) && text !== OWNERS_NAME) return text;
  throw new DomainError(
    ErrorCode.InvalidParameter,
    "name accepts 1 to 64 characters: a-z, 0-9, dots, hyphens and underscores, the first a letter or digit, except the name session.",
  );
}

/** Parses a number of days from now until a credential expires. Fails with `invalid_parameter`. */
export function parseValidityDays(text: string): number {
  const days = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= MAX_VALIDITY_DAYS) return days;
  throw new DomainError(
    ErrorCode.InvalidParameter,
    `days accepts a whole number from 1 to ${MAX_VALIDITY_DAYS}.`,
  );
}

/** Parses the names of one or more permissions. Fails with `invalid_parameter` if one is unknown. */
export function parsePermissions(names: readonly string[]): ReadonlySet<Permission> {
  const permissions = new Set(names.filter(isPermission));
  if (permissions.size > 0 && names.every(isPermission)) return permissions;
  throw new DomainError(
    ErrorCode.InvalidParameter,
    `permission accepts one or more of: ${PERMISSION_NAMES.join(", ")}.`,
  );
}
