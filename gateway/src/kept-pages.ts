import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** A page as it was answered, and the core's name for it. */
export type KeptPage = {
  readonly etag: string;
  /** The JSON, in UTF-8. */
  readonly body: Buffer;
  readonly isEmpty: boolean;
};

/** The pages that were answered last, each of one API key and one query. */
export type KeptPages = {
  find(apiKey: string, query: string): KeptPage | undefined;
  keep(apiKey: string, query: string, page: KeptPage): void;
};

/** Of the room, what empty pages have to themselves: they are small, and asked for most. */
const SHARE_OF_EMPTY = 1 / 4;
/** What a page takes beside its texts: objects, and its places in the lists. */
const OVERHEAD_BYTES = 400;

/**
 * Keeps pages in `maxBytes` of memory, those that were asked for last. A page that is found may have changed:
 * only the core, asked with its `etag`, can say that it is the same. API keys are kept as hashes.
 */
export function createKeptPages(maxBytes: number): KeptPages {
  const emptyBytes = maxBytes * SHARE_OF_EMPTY;
  const empty = createStore(emptyBytes);
  const filled = createStore(maxBytes - emptyBytes);
  return {
    find(apiKey, query) {
      const name = nameOf(apiKey, query);
      return empty.get(name) ?? filled.get(name);
    },
    keep(apiKey, query, page) {
      const name = nameOf(apiKey, query);
      const [store, other] = page.isEmpty ? [empty, filled] : [filled, empty];
      store.set(name, page);
      other.delete(name);
    },
  };
}

function createStore(maxBytes: number) {
  return new LRUCache<string, KeptPage>({
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: ({ body, etag }) => body.length + etag.length + OVERHEAD_BYTES,
  });
}

function nameOf(apiKey: string, query: string): string {
  return hash("sha256", `${apiKey} ${query}`, "base64url");
}
