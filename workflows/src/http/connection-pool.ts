import { createSecureContext, rootCertificates } from "node:tls";
import type { EgressProxy } from "./egress-proxy.ts";
import { openPinnedConnection, type PinnedConnection } from "./pinned-connection.ts";
import type { SafeTarget } from "./target-guard.ts";

/** A connection for one request. */
export type Lease = {
  readonly connection: PinnedConnection;
  /** Whether earlier requests used it. Then the receiver may be closing it. */
  readonly isReused: boolean;
};

/**
 * Keeps connections for a few seconds between requests to the same host.
 *
 * Accounts share connections when their endpoints share a host. A connection keeps nothing of an account: no cookies,
 * no client certificate, no credentials. It carries one request at a time. It is cut when unexpected bytes come, or
 * when an answer is not read to its end. Only the host itself could therefore mix up two of its answers.
 */
export type ConnectionPool = {
  /** Returns a kept connection to one of the target's checked addresses, or a new one. */
  readonly lease: (target: SafeTarget) => Lease;
  readonly leaseFresh: (target: SafeTarget) => Lease;
  /** Keeps a connection whose last answer was read to its end. */
  readonly release: (target: SafeTarget, connection: PinnedConnection) => void;
  readonly close: () => void;
};

const MAX_IDLE = 1_024;
const MAX_IDLE_PER_HOST = 128;

/**
 * Creates a pool. Its connections use the proxy, if given. They trust the public CAs and `extraCa` (PEM, development
 * and tests only).
 */
export function createConnectionPool(extraCa?: string, proxy?: EgressProxy): ConnectionPool {
  // Node's default CAs are left out: they include those of NODE_EXTRA_CA_CERTS, which are only for the database and the
  // core.
  const ca = [...rootCertificates, ...(extraCa ? [extraCa] : [])];
  const secureContext = createSecureContext({ ca });
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
