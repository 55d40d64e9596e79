import type { ReadAccount } from "../account/read-account-store.ts";
import { bindingOf, type CursorKey } from "./activity-cursor.ts";
import type { ActivityQuery } from "./activity-query.ts";

/**
 * The revision of pages. Raise it when the same feed gives another page: a changed rendering, or a migration that
 * changes rows without moving their feed's version.
 */
const PAGE_REVISION = 1;

/**
 * Names a page: its revision, the key that signs its cursor, the account, what is asked for, and the version of the
 * feed. It is no hash of those, so two pages never share a name. `cursor` is one that was verified.
 *
 * The version is read before the page. So a page may be newer than its name and is never older. It is given only to
 * requests that were admitted before the newer version was committed.
 */
export function pageEtag(
  key: CursorKey,
  { id, feedVersion }: Pick<ReadAccount, "id" | "feedVersion">,
  query: ActivityQuery,
  cursor: string | undefined,
): string {
  const page = `${bindingOf(id, query)}/${query.limit}/${cursor ?? ""}`;
  return `${PAGE_REVISION}/${key.fingerprint}/${page}/${feedVersion}`;
}
