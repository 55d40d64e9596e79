import type { ReadAccount } from "../account/read-account-store.ts";
import { bindingOf } from "./activity-cursor.ts";
import type { ActivityQuery } from "./activity-query.ts";

/**
 * Names a page: the account, what is asked for, and the version of the feed. It is no hash, so that two pages
 * never share a name. `cursor` is one that was verified.
 *
 * The version is read before the page, so a page may be newer than its name, and is never older. It is given
 * only to those who were admitted before the newer version was committed, and so asked while it came to be.
 */
export function pageEtag(
  { id, feedVersion }: Pick<ReadAccount, "id" | "feedVersion">,
  query: ActivityQuery,
  cursor: string | undefined,
): string {
  return `${bindingOf(id, query)}/${query.limit}/${cursor ?? ""}/${feedVersion}`;
}
