import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** An answer to a request that the hub does not serve. */
export interface Refusal {
  readonly status: number;
  readonly sentence: string;
}

/**
 * Says why a request is refused; undefined when it may pass.
 *
 * The hub answers programs and pages of this machine that know the token. `Host` stops a name that
 * another site points at this machine, `Origin` the pages of other sites.
 */
export function refusalOf(
  { method, headers }: IncomingMessage,
  url: URL,
  hub: { readonly port: number; readonly token: string },
): Refusal | undefined {
  const hosts = ["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}:${hub.port}`);
  const origins = hosts.map((host) => `http://${host}`);
  if (!hosts.includes(headers.host ?? "")) {
    return { status: 421, sentence: `The hub answers at ${hosts.join(", ")} only.` };
  }
  if (headers.origin !== undefined && !origins.includes(headers.origin)) {
    return { status: 403, sentence: "Pages of other sites may not read the hub: open /overlay." };
  }
  if (method !== "GET") return { status: 405, sentence: "The hub takes GET." };
  if (!isSame(url.searchParams.get("token") ?? "", hub.token)) {
    return { status: 401, sentence: "Add ?token=… as in the address that the hub printed." };
  }
  return undefined;
}

/** Compares hashes, which takes the same time for any two texts. */
function isSame(given: string, token: string): boolean {
  const [one, other] = [given, token].map((text) => createHash("sha256").update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
