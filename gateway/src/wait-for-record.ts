import type { FeedWait } from "./feed-waits.ts";
import type { ReadPage } from "./reads.ts";
import { isOutOfReach } from "./upstream-error.ts";

/** The pause before the next call if the core did not answer, or did not know the newer version. */
const PAUSE_MS = 500;
/** The pause after a change that left the page empty. Most changes of a busy feed may be of another type. */
const READ_AGAIN_MS = 100;

/**
 * Reads a page again each time its feed changes. Resolves with the first page that holds a record, or with the last
 * empty one when the wait is over. An outage of the core does not fail the request: the client gets the empty page and
 * asks again.
 */
export async function waitForRecord(
  wait: FeedWait,
  empty: ReadPage,
  readAgain: () => Promise<ReadPage>,
): Promise<ReadPage> {
  let page = empty;
  try {
    while (page.emptyFeed !== undefined && (await wait.changedAfter(page.emptyFeed.version))) {
      const { version } = page.emptyFeed;
      page = (await readUnlessOver(wait, readAgain)) ?? page;
      if (page.emptyFeed === undefined) return page;
      // After a failover a database can lack the change that the gateway heard of.
      const isOld = page.emptyFeed.version <= version;
      if (!(await wait.pause(isOld ? PAUSE_MS : READ_AGAIN_MS))) return page;
    }
    return page;
  } finally {
    wait.end();
  }
}

async function readUnlessOver(
  wait: FeedWait,
  readAgain: () => Promise<ReadPage>,
): Promise<ReadPage | undefined> {
  do {
    try {
      return await readAgain();
    } catch (error) {
      if (!isOutOfReach(error)) throw error;
    }
  } while (await wait.pause(PAUSE_MS));
  return undefined;
}
