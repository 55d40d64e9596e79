import { parseGetMe } from "./handlers/get-me.ts";
import { parseListActivities } from "./handlers/list-activities.ts";
import type { ParseRead } from "./handlers/read.ts";

/** The methods of every known path, as `Allow` writes them. §4.3 */
export const ALLOW = "GET, HEAD, OPTIONS";
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

const READS: ReadonlyMap<string, ParseRead> = new Map([
  ["/api/v1/activity", parseListActivities],
  ["/api/v1/me", parseGetMe],
]);

/** Where a request goes: to a read, or to the refusal of its path or method. */
export type Route =
  | { readonly kind: "read"; readonly parseRead: ParseRead; readonly query: string }
  | { readonly kind: "method_not_allowed" }
  | { readonly kind: "not_found" };

/** Finds the route of a request target. Paths are compared as sent: no decoding, no merging of slashes. */
export function findRoute(method: string, target: string): Route {
  const local = withoutAuthority(target);
  const question = local.indexOf("?");
  const path = question < 0 ? local : local.slice(0, question);
  const parseRead = READS.get(path);
  if (parseRead === undefined) return { kind: "not_found" };
  if (!METHODS.has(method)) return { kind: "method_not_allowed" };
  return { kind: "read", parseRead, query: question < 0 ? "" : local.slice(question + 1) };
}

/** An absolute-form target, which every server must take (RFC 9112 3.2.2), names this server itself. */
function withoutAuthority(target: string): string {
  return target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]+/i, "");
}
