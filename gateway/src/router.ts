import { type ParseRead, parseGetMe, parseListActivities } from "./reads.ts";

/** The methods of every known path, as the value of `Allow`. §4.3 */
export const ALLOW = "GET, HEAD, OPTIONS";
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

const READS: ReadonlyMap<string, ParseRead> = new Map([
  ["/api/v1/activity", parseListActivities],
  ["/api/v1/me", parseGetMe],
]);

/** The known paths, for a message. */
export const PATHS = [...READS.keys()].join(" and ");

/** Returns the path of a known route, else `other`, because clients can invent targets without limit. */
export function routeName(target: string): string {
  const path = pathOf(withoutAuthority(target));
  return READS.has(path) ? path : "other";
}

/** A request's read, or the refusal of its path or method. */
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

/** Removes the server from an absolute-form target, which every server must accept (RFC 9112 §3.2.2). */
function withoutAuthority(target: string): string {
  return target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]+/i, "");
}
