import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import {
  createFindClientAddress,
  UNTRUSTED_PROXY,
  warnOfUntrustedProxy,
} from "@activity/runtime/client-address";
import type { Log } from "@activity/runtime/log";
import { createGauge, type Metrics, NO_METRICS } from "@activity/runtime/metrics";
import { createRefusedClients } from "@activity/runtime/refused-clients";
import { keepUnsentAnswers } from "@activity/runtime/unsent-answers";
import type { Transport } from "@connectrpc/connect";
import { countAnswers } from "./answer-metrics.ts";
import { refuseKnownClients } from "./answer-refusals.ts";
import { createAnswers } from "./answer-request.ts";
import { traceAnswers } from "./answer-spans.ts";
import { createFeedWaits } from "./feed-waits.ts";
import { createHttpServer } from "./http-server.ts";
import { createKeptPages } from "./kept-pages.ts";
import { DEFAULT_LIMITS, type GatewayLimits } from "./limits.ts";
import { createUpstream } from "./upstream.ts";

/** The parts and limits of a gateway. */
export type GatewayOptions = {
  /** Calls the core. */
  readonly upstream: Transport;
  /** CIDRs of the proxies whose `X-Forwarded-For` is trusted; none by default. */
  readonly trustedProxies?: readonly string[];
  /** Reports failures and warnings. */
  readonly log: Log;
  /** Counts requests. Without it nothing is counted. */
  readonly metrics?: Metrics;
  /** Replaces single limits of `DEFAULT_LIMITS`. */
  readonly limits?: Partial<GatewayLimits>;
};

/**
 * The HTTP edge. Between requests it keeps only pages, the times until which the core refuses clients, and the versions
 * of feeds that changed in the last seconds. The core confirms a kept page before the gateway sends it again.
 */
export type Gateway = {
  readonly server: Server;
  /** Starts to listen and returns the address; port 0 takes a free port. Rejects when it cannot listen. */
  listen(port: number, host: string): Promise<AddressInfo>;
  /** Continues to serve, but ends all waits, and closes each connection after its next answer. */
  drain(): void;
  isDraining(): boolean;
  /** Stops listening, and lets answers in flight finish. Cuts the connections that are left after `closeTimeoutMs`. */
  close(): Promise<void>;
};

/** Creates a gateway. Throws if `trustedProxies` holds anything but CIDRs and addresses. */
export function createGateway(options: GatewayOptions): Gateway {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { log, metrics = NO_METRICS } = options;
  const upstream = createUpstream(options.upstream);
  const pages = createKeptPages(limits.keptPageBytes);
  const waits = createFeedWaits(upstream, limits);
  const help = "Polls that wait for a record.";
  createGauge(metrics, "activity_gateway_waiting_requests", help, waits.count);
  const answers = countAnswers(
    traceAnswers(
      refuseKnownClients(
        createAnswers(upstream, pages, waits, limits, log),
        createRefusedClients(() => performance.now()),
        limits.refusalDelayMs,
      ),
    ),
    metrics,
  );
  const { trustedProxies = [] } = options;
  const find = createFindClientAddress(trustedProxies);
  const findClientAddress = warnOfUntrustedProxy(find, trustedProxies, () =>
    log.warn(UNTRUSTED_PROXY),
  );
  let draining = false;
  const isDraining = () => draining;
  const server = createHttpServer(answers, findClientAddress, limits, isDraining);
  const connections = keepUnsentAnswers(server);
  const drain = () => {
    draining = true;
    waits.close();
  };
  return {
    server,
    async listen(port, host) {
      await once(server.listen(port, host), "listening");
      return server.address() as AddressInfo; // Always an AddressInfo, because the server listens on TCP.
    },
    drain,
    isDraining,
    close() {
      drain();
      return close(server, connections, limits.closeTimeoutMs);
    },
  };
}

function close(server: Server, connections: ReadonlySet<Socket>, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      // Cuts each connection by itself, because closeAllConnections does not reach those of CONNECT.
      for (const socket of connections) socket.destroy();
    }, timeoutMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}
