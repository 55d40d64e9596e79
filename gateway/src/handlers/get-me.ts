import { parseStrictQuery } from "../query/strict-query.ts";
import { renderMe } from "../render/me.ts";
import type { Read } from "./read.ts";

/** Parses a request for the key's account, which takes no parameters. §4.1 */
export function parseGetMe(query: string): Read {
  parseStrictQuery(query, []);
  return async ({ upstream, options }) => renderMe(await upstream.me.getMe({}, options));
}
