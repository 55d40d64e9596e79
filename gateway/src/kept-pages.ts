import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";

/** A page, and its etag from the core. */
export type KeptPage = {
  readonly etag: string;
  /** The JSON, in UTF-8. */
  readonly body: Buffer;
  readonly isEmpty: boolean;
};

/** Recently answered pages, by API key and query. */
export type KeptPages = {
  find(apiKey: string, query: string): KeptPage | undefined;
  /** Keeps an answered page if it is empty or was requested before. */
  note(apiKey: string, query: string, page: KeptPage): void;
};

/** The share of the memory that is for empty pages. They are small, and clients request them most. */
const SHARE_OF_EMPTY = 1 / 4;
/** The memory that a page needs in addition to its texts: objects and list entries. */
const OVERHEAD_BYTES = 400;
/** The most pages remembered as requested once. */
const ASKED_ONCE = 4_096;

/**
 * Keeps the pages that were requested last, in `maxBytes` of memory. Empty pages are kept at once, others at their
 * second request, so that a client reading a long history displaces nothing. Pages may be out of date: only the core
 * can confirm one, by its `etag`. API keys are kept as hashes.
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
        store.set(name, { etag, body: copyOf(body), isEmpty });
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

/** Copies a page into memory of its own. A small `Buffer.from` would keep 8 KB that it shares with dead buffers. */
function copyOf(body: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(body.length);
  body.copy(copy);
  return copy;
}

function nameOf(apiKey: string, query: string): string {
  return hash("sha256", `${apiKey} ${query}`, "base64url");
}
