import { randomBytes } from "node:crypto";

const START = "whsec_";
const SECRET_BYTES = 32;

/** Returns a new signing secret: `whsec_` and 32 random bytes in standard base64. §6 */
export function newSigningSecret(): string {
  return START + randomBytes(SECRET_BYTES).toString("base64");
}
