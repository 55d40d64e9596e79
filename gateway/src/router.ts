import { type ParseRead, parseGetMe, parseListActivities } from "./reads.ts";

/** The methods of every known path, as `Allow` writes them. §4.3 */
export const ALLOW = "GET, HEAD, OPTIONS";
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

const READS: ReadonlyMap<string, ParseRead> = new Map([
  ["/api/v1/activity", parseListActivities],
  ["/api/v1/me", parseGetMe],
]);

/** Returns the path that is read where there is one, and `other` for all that anybody may make up. */
export function routeName(target: string): string {
  const path = pathOf(withoutAuthority(target));
  return READS.has(path) ? path : "other";
}

/** Where a request goes: to a read, or to the refusal of its path or method. */
export type Route =
  | { readonly kind: "read"; readonly parseRead: ParseRead; readonly query: string }
  | { readonly kind: "method_not_allowed" }
  | { readonly kind: "not_found" };

/** Finds the route of a request target. Paths are compared as sent: no decoding, no merging of slashes. */
export function findRoute(method: string, target: string): Route {
  const local = withoutAuthority(target);
  const path = pathOf(local);
  const parseRead = READS.get(path);
  if (parseRead === undefined) return { kind: "not_found" };
  if (!METHODS.has(method)) return { kind: "method_not_allowed" };
  return { kind: "read", parseRead, query: local.slice(path.length + 1) };
}

function pathOf(local: string): string {
  const question = local.indexOf("?");
  return question < 0 ? local : local.slice(0, question);
}

/** An absolute-form target, which every server must take (RFC 9112 3.2.2), names this server itself. */
function withoutAuthority(target: string): string {
  return target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]+/i, "");
}
