import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** A page that was answered, and the core's name for it. */
export type KeptPage = {
  readonly etag: string;
  /** The JSON, in UTF-8. */
  readonly body: Buffer;
  readonly isEmpty: boolean;
};

/** A page as it is answered. */
export type AnsweredPage = {
  readonly etag: string;
  /** The JSON. */
  readonly body: string;
  readonly isEmpty: boolean;
};

/** The pages that were answered last, each of one API key and one query. */
export type KeptPages = {
  find(apiKey: string, query: string): KeptPage | undefined;
  /** Takes note of an answer, and keeps it if it is likely to be asked for again. */
  note(apiKey: string, query: string, page: AnsweredPage): void;
};

/** Of the memory, what empty pages have to themselves: they are small, and asked for most. */
const SHARE_OF_EMPTY = 1 / 4;
/** The memory that a page takes beside its texts: its objects and its entries in the lists. */
const OVERHEAD_BYTES = 400;
/** Pages that are remembered to have been asked for once. */
const ASKED_ONCE = 4_096;

/**
 * Keeps the pages that were asked for last, in `maxBytes` of memory. Empty pages are kept at once,
 * others when they are asked for a second time. So a reader of a long history takes no memory from
 * others. A page that is found may have changed: only the core can say, by its `etag`. API keys are
 * kept as hashes.
 */
export function createKeptPages(maxBytes: number): KeptPages {
  const emptyBytes = maxBytes * SHARE_OF_EMPTY;
  const empty = createStore(emptyBytes);
  const filled = createStore(maxBytes - emptyBytes);
  const askedOnce = new LRUCache<string, true>({ max: ASKED_ONCE });
  return {
    find(apiKey, query) {
      const name = nameOf(apiKey, query);
      return empty.get(name) ?? filled.get(name);
    },
    note(apiKey, query, { etag, body, isEmpty }) {
      const name = nameOf(apiKey, query);
      const [store, other] = isEmpty ? [empty, filled] : [filled, empty];
      other.delete(name);
      if (isEmpty || askedOnce.delete(name) || store.has(name)) {
        store.set(name, { etag, body: Buffer.from(body), isEmpty });
      } else {
        askedOnce.set(name, true);
      }
    },
  };
}

function createStore(maxBytes: number) {
  return new LRUCache<string, KeptPage>({
    maxSize: Math.floor(maxBytes),
    sizeCalculation: ({ body, etag }) => body.length + etag.length + OVERHEAD_BYTES,
  });
}

function nameOf(apiKey: string, query: string): string {
  return hash("sha256", `${apiKey} ${query}`, "base64url");
}
