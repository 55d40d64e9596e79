import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { isPortFree, LOOPBACK } from "./free-port.ts";
import { makeSelfSigned, type SelfSigned } from "./self-signed.ts";

/** A receiver on this machine that prints verified webhook events. */
export type DemoReceiver = {
  readonly port: number;
  /** `host:port`, to allow as a target. */
  readonly target: string;
  /** PEM, for the sender to trust. */
  readonly certificate: string;
  stop(): Promise<void>;
};

const TOLERANCE_SECONDS = 5 * 60;

/**
 * Starts the receiver, on the last run's port if it is free. By default it makes its own certificate. It reads its
 * secret for every request, so that it verifies the first event as soon as the secret is stored.
 */
export async function startDemoReceiver(
  lastPort: number | undefined,
  readSecret: () => Promise<string | undefined>,
  { cert, key }: SelfSigned = makeSelfSigned(Date.now()),
): Promise<DemoReceiver> {
  const seen = new Set<string>();
  const server = createServer({ cert, key }, async (request, response) => {
    const status = await buffer(request).then(
      async (body) => receive(request.headers, body, await readSecret(), seen),
      () => 400,
    );
    response.writeHead(status).end();
  });
  server.listen(lastPort && (await isPortFree(lastPort)) ? lastPort : 0, LOOPBACK);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    port,
    target: `${LOOPBACK}:${port}`,
    certificate: cert,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Verifies a request and detects repeated events, as the contract requires. Returns the status to answer. §6.3 */
function receive(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string | undefined,
  seen: Set<string>,
): number {
  // The sender must retry, because this is not its fault. A 401 would end the delivery. §6.4
  if (secret === undefined) return 503;
  const header = (name: string) => String(headers[name] ?? "");
  const [id, timestamp] = [header("service-event-id"), header("service-timestamp")];
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS;
  const signed = createHmac("sha256", secret).update(`${timestamp}.${id}.`).update(body);
  const wanted = Buffer.from(`v1=${signed.digest("hex")}`);
  const given = Buffer.from(header("service-signature"));
  const isGenuine = wanted.length === given.length && timingSafeEqual(wanted, given);
  if (!isFresh || !isGenuine) return 401;
  if (!seen.has(id)) process.stdout.write(`Webhook event  ${body.toString("utf8")}\n`);
  seen.add(id);
  return 204;
}
