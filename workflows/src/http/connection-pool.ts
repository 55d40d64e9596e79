import { createSecureContext, rootCertificates } from "node:tls";
import type { EgressProxy } from "./egress-proxy.ts";
import { openPinnedConnection, type PinnedConnection } from "./pinned-connection.ts";
import type { SafeTarget } from "./target-guard.ts";

/** A connection lent to one request. */
export type Lease = {
  readonly connection: PinnedConnection;
  /** Whether earlier requests were answered on it: the receiver may be closing it just now. */
  readonly isReused: boolean;
};

/**
 * Connections kept for a few seconds between requests to the same host.
 *
 * Accounts share them when their endpoints share a host. Nothing of an account stays with a
 * connection: no cookies, no client certificate, no credentials; one request at a time, and
 * any connection is cut on which something came unasked or an answer was not read to its end. So
 * what could be mixed up is at most two answers of one host, by that host itself.
 */
export type ConnectionPool = {
  /** Lends a kept connection to one of the target's checked addresses, or a fresh one. */
  readonly lease: (target: SafeTarget) => Lease;
  readonly leaseFresh: (target: SafeTarget) => Lease;
  /** Takes back a connection whose last answer was read to its end. */
  readonly release: (target: SafeTarget, connection: PinnedConnection) => void;
  readonly close: () => void;
};

const MAX_IDLE = 1_024;
const MAX_IDLE_PER_HOST = 128;

/**
 * Creates a pool, by way of the proxy if there is one; `extraCa` (PEM, development and tests only) is trusted beside
 * the public CAs.
 */
export function createConnectionPool(extraCa?: string, proxy?: EgressProxy): ConnectionPool {
  const secureContext = createSecureContext(extraCa ? { ca: [...rootCertificates, extraCa] } : {});
  const idle = new Map<string, PinnedConnection[]>();
  let idleCount = 0;

  const forget = (key: string, connection: PinnedConnection) => {
    const left = idle.get(key)?.filter((other) => other !== connection) ?? [];
    if (left.length === (idle.get(key)?.length ?? 0)) return;
    idleCount -= 1;
    if (left.length > 0) idle.set(key, left);
    else idle.delete(key);
  };
  const leaseFresh = (target: SafeTarget): Lease => {
    const connection = openPinnedConnection(target, secureContext, proxy);
    const key = keyOf(target);
    connection.client.on("disconnect", () => {
      forget(key, connection);
      connection.destroy();
    });
    return { connection, isReused: false };
  };
  return {
    leaseFresh,
    lease: (target) => {
      const key = keyOf(target);
      const kept = idle.get(key)?.findLast((connection) => isAmong(connection.address(), target));
      if (!kept) return leaseFresh(target);
      forget(key, kept);
      return { connection: kept, isReused: true };
    },
    release: (target, connection) => {
      const key = keyOf(target);
      const kept = idle.get(key) ?? [];
      const hasCapacity = idleCount < MAX_IDLE && kept.length < MAX_IDLE_PER_HOST;
      if (!hasCapacity || connection.address() === undefined) return connection.destroy();
      idle.set(key, [...kept, connection]);
      idleCount += 1;
    },
    close: () => {
      for (const connection of [...idle.values()].flat()) connection.destroy();
      idle.clear();
      idleCount = 0;
    },
  };
}

function keyOf({ host, port }: SafeTarget): string {
  return `${host}:${port}`;
}

function isAmong(address: string | undefined, { addresses }: SafeTarget): boolean {
  return addresses.some((checked) => checked.address === address);
}
