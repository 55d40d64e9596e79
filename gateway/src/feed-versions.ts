import { setTimeout as wait } from "node:timers/promises";
import type { Upstream } from "./upstream.ts";

/** The versions of the feeds that changed last, as a core tells them. ADR 0052 */
export type FeedVersions = {
  /** Returns an account's version if it changed in the last seconds. */
  find(accountId: string): bigint | undefined;
  /** Begins to listen to the core, or goes on. What changed in the 15 seconds before is told too. */
  open(): void;
  /** Nobody waits any more: the stream ends when nobody comes for a while. */
  release(): void;
  /** Ends at once. */
  close(): void;
};

/** Longer than a read takes: a change may be told before the page that lacks it is answered. */
const KEPT_MS = 15_000;
/** The core says something every half second. */
const SILENT_MS = 2_000;
const RETRY_MS = 250;
/** A client that polls comes back within this. */
const LINGER_MS = 30_000;

/** Creates the versions, told over one stream for all who wait. `onChange` hears of each account that changed. */
export function createFeedVersions(
  upstream: Upstream,
  onChange: (accountId: string, version: bigint) => void,
): FeedVersions {
  const versions = new Map<string, { readonly version: bigint; readonly heardMs: number }>();
  let stream: AbortController | undefined;
  let lingering: NodeJS.Timeout | undefined;

  function note(accountId: string, version: bigint): void {
    const known = versions.get(accountId);
    if (known !== undefined && known.version >= version) return;
    versions.delete(accountId);
    versions.set(accountId, { version, heardMs: performance.now() });
    onChange(accountId, version);
  }

  function forgetOld(): void {
    const untilMs = performance.now() - KEPT_MS;
    for (const [accountId, { heardMs }] of versions) {
      if (heardMs > untilMs) break;
      versions.delete(accountId);
    }
  }

  async function listen(closed: AbortSignal): Promise<void> {
    while (!closed.aborted) {
      await listenOnce(closed).catch(() => undefined);
      await wait(RETRY_MS, undefined, { signal: closed }).catch(() => undefined);
    }
  }

  /** Ends when the stream does, or says nothing: then another one begins, and tells what was missed. */
  async function listenOnce(closed: AbortSignal): Promise<void> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), SILENT_MS);
    const signal = AbortSignal.any([closed, silence.signal]);
    try {
      for await (const { feeds } of upstream.feedChanges.watchFeeds({}, { signal })) {
        timer.refresh();
        forgetOld();
        for (const { accountId, version } of feeds) note(accountId, version);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  function close(): void {
    clearTimeout(lingering);
    stream?.abort();
    stream = undefined;
    versions.clear();
  }

  return {
    find: (accountId) => versions.get(accountId)?.version,
    open() {
      clearTimeout(lingering);
      if (stream !== undefined) return;
      stream = new AbortController();
      void listen(stream.signal);
    },
    release() {
      clearTimeout(lingering);
      lingering = setTimeout(close, LINGER_MS);
      lingering.unref();
    },
    close,
  };
}
