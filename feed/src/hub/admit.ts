import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The answer to a refused request. */
export interface Refusal {
  readonly status: number;
  readonly sentence: string;
}

/**
 * Returns why a request is refused; undefined if it is allowed.
 *
 * The hub serves programs and pages of this machine that have the token. The check of `Host` refuses other names that
 * resolve to this machine (DNS rebinding). The check of `Origin` refuses pages of other sites.
 */
export function refusalOf(
  { method, headers }: IncomingMessage,
  url: URL,
  hub: { readonly port: number; readonly token: string },
): Refusal | undefined {
  // Browsers leave out the port 80.
  const port = hub.port === 80 ? "" : `:${hub.port}`;
  const hosts = ["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}${port}`);
  const origins = hosts.map((host) => `http://${host}`);
  if (!hosts.includes(headers.host ?? "")) {
    // Leaves out [::1], because the hub listens on IPv4 only. A tunnel may still bring it requests to [::1].
    return { status: 421, sentence: `The hub answers at ${hosts.slice(0, 2).join(" and ")} only.` };
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

/** Compares hashes, so that the time does not depend on the texts. */
function isSame(text: string, token: string): boolean {
  const [one, other] = [text, token].map((text) => createHash("sha256").update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
