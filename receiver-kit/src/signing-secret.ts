import { createMac } from "#crypto";
import type { Mac } from "./crypto/mac.ts";
import { VerificationError } from "./verification-error.ts";

/** The form of a secret. The prefix is part of the MAC's key and is never cut off. */
const SECRET_PATTERN = /^whsec_[!-~]{32,}$/;
const REMEMBERED_SECRETS = 64;

const macBySecret = new Map<string, Mac>();

/** One signing secret, or several during a rotation. */
export type SigningSecrets = string | undefined | readonly (string | undefined)[];

/**
 * Returns the MACs of all secrets, in order.
 *
 * Throws `unusable_secret` if there is none, or if any is weak or malformed. This also refuses a bad secret next to a
 * good one, so that you see the mistake before the rotation.
 */
export function macsFromSecrets(secrets: SigningSecrets): readonly Mac[] {
  const list = Array.isArray(secrets) ? secrets : [secrets];
  if (list.length === 0) throw new VerificationError("unusable_secret", "there is none");
  return list.map(macFromSecret);
}

/** Returns the MAC of a secret. Throws `unusable_secret` if it is weak or malformed. */
export function macFromSecret(secret: unknown): Mac {
  const remembered = macBySecret.get(secret as string); // Map.get accepts any value. The map holds only strings.
  if (remembered) return remembered;
  if (typeof secret !== "string" || !SECRET_PATTERN.test(secret)) {
    throw new VerificationError("unusable_secret", describeFault(secret));
  }
  const mac = createMac(secret);
  if (macBySecret.size >= REMEMBERED_SECRETS) macBySecret.clear();
  macBySecret.set(secret, mac);
  return mac;
}

/** Describes what is wrong, without any character of the secret. */
function describeFault(secret: unknown): string {
  if (typeof secret !== "string") return `got ${secret === null ? "null" : typeof secret}`;
  if (secret === "") return "it is empty";
  if (!secret.startsWith("whsec_")) return "it does not begin with whsec_";
  return /\s/.test(secret) ? "it holds white space" : "it is too short or holds other characters";
}
