import { setTimeout as wait } from "node:timers/promises";
import type { Upstream } from "./upstream.ts";

/** The versions of feeds that changed in the last seconds, as the core streams them. ADR 0052 */
export type FeedVersions = {
  /** Returns an account's version if it changed in the last seconds. */
  find(accountId: string): bigint | undefined;
  /** Opens the stream, or keeps it open. The stream begins with the changes of the 15 seconds before. */
  open(): void;
  /** Notes that no request waits any more. The stream ends after 30 seconds, unless a request begins to wait. */
  release(): void;
  /** Ends the stream at once. */
  close(): void;
};

/**
 * How long a version is kept. This is longer than a read takes, because a change can arrive before the answer of a
 * read that missed the change.
 */
const KEPT_MS = 15_000;
/** A stream without a message for this time has stalled. The core sends a message every half second. */
const SILENT_MS = 2_000;
const RETRY_MS = 250;
/** How long the stream stays open without waiting requests. Clients that poll return within this time. */
const LINGER_MS = 30_000;

/** Creates the versions. One stream brings them for all waiting requests. Each feed change calls `onChange`. */
export function createFeedVersions(
  upstream: Upstream,
  onChange: (accountId: string, version: bigint) => void,
): FeedVersions {
  const versions = new Map<string, { readonly version: bigint; readonly heardMs: number }>();
  let stream: AbortController | undefined;
  let lingering: NodeJS.Timeout | undefined;

  function note(accountId: string, version: bigint): void {
    const latest = versions.get(accountId);
    if (latest !== undefined && latest.version >= version) return;
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

  /** Returns when the stream ends or brings nothing for two seconds. The next stream repeats what this one missed. */
  async function listenOnce(closed: AbortSignal): Promise<void> {
    const stalled = new AbortController();
    const timer = setTimeout(() => stalled.abort(), SILENT_MS);
    const signal = AbortSignal.any([closed, stalled.signal]);
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
