import type { ReadAccount } from "../account/read-account-store.ts";
import { bindingOf, type CursorKey } from "./activity-cursor.ts";
import type { ActivityQuery } from "./activity-query.ts";

/**
 * The revision of pages. Raise it when the same feed gives different pages: after a change of rendering, or a
 * migration that changes rows but not their feed's version.
 */
const PAGE_REVISION = 1;

/**
 * Returns the etag of a page: the revision, the cursor key, the account, the query, the verified `cursor` and the
 * feed's version. It is no hash, so two pages never share an etag.
 *
 * The core reads the version before the page, so a page may be newer than its etag, but never older. A page that is
 * newer than its etag goes only to requests that the core admitted before the newer version was committed.
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
