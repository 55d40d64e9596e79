import { randomBytes } from "node:crypto";
import type { Log } from "@activity/runtime/log";
import {
  administerServiceCredentials,
  createServiceCredential,
  Permission,
} from "@activity/server";

const DAY_MS = 86_400_000;

/**
 * Creates this machine's service credential, with every permission for all accounts. Returns its text. Its name is
 * always new, because an earlier credential may be lost, revoked or another machine's.
 */
export function createLocalCredential(databaseUrl: string): Promise<string> {
  const name = `npm-start-${randomBytes(6).toString("hex")}`;
  return createServiceCredential(databaseUrl, name, Object.values(Permission));
}

/** Renews a credential now and every day while the product runs. Returns a function that stops it. */
export function startRenewal(
  databaseUrl: string,
  credential: string,
  log: Log,
  intervalMs = DAY_MS,
): () => void {
  async function renew(): Promise<void> {
    const administration = administerServiceCredentials(databaseUrl);
    try {
      if (await administration.renew(credential).finally(() => administration.close())) return;
      log.warn(
        "the credential of this machine is revoked or expired: the next start makes another",
      );
    } catch (cause) {
      log.error("renewal of this machine's credential failed", { cause });
    }
  }
  void renew();
  const timer = setInterval(renew, intervalMs).unref();
  return () => clearInterval(timer);
}
