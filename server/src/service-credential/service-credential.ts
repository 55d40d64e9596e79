import { createHash, randomBytes } from "node:crypto";
import { Permission } from "../caller.ts";
import { DomainError, ErrorCode } from "../errors.ts";

const START = "act_svc_";
const FORM = /^act_svc_[0-9a-f]{64}$/;
const SECRET_BYTES = 32;

/** The names of all permissions. */
export const PERMISSION_NAMES: readonly Permission[] = Object.values(Permission);

/** Returns a new service credential of 32 random bytes; only its hash is kept. */
export function newServiceCredential(): { secret: string; hash: Buffer } {
  const secret = START + randomBytes(SECRET_BYTES).toString("hex");
  return { secret, hash: hashServiceCredential(secret) };
}

/** Returns what is stored of a service credential: the SHA-256 of its whole text. */
export function hashServiceCredential(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Tells whether a text has the form of a service credential. */
export function isServiceCredentialText(text: string): boolean {
  return FORM.test(text);
}

/** Tells whether a text is the name of a permission. */
export function isPermission(name: string): name is Permission {
  return PERMISSION_NAMES.some((permission) => permission === name);
}

/** Parses the names of one or more permissions. Fails with `invalid_parameter` when one is unknown. */
export function parsePermissions(names: readonly string[]): ReadonlySet<Permission> {
  const permissions = new Set(names.filter(isPermission));
  if (permissions.size > 0 && names.every(isPermission)) return permissions;
  throw new DomainError(
    ErrorCode.InvalidParameter,
    `permission accepts one or more of: ${PERMISSION_NAMES.join(", ")}.`,
  );
}
