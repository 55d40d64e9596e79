import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { isPortFree, LOOPBACK } from "./free-port.ts";
import { makeSelfSigned, type SelfSigned } from "./self-signed.ts";

/** A receiver of webhook events on this machine that prints what it verified. */
export type DemoReceiver = {
  readonly port: number;
  /** `host:port`, to be allowed as a target. */
  readonly target: string;
  /** PEM; to be trusted by the sender. */
  readonly certificate: string;
  stop(): Promise<void>;
};

const TOLERANCE_SECONDS = 5 * 60;

/**
 * Starts the receiver, on the port of the last run when it is free, with a certificate of its own unless one is given.
 * It reads its secret at every request, so that the first event finds it as soon as it is stored.
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

/** Does what the contract asks of receivers: verify, recognize what came before; returns the status to answer. §6.3 */
function receive(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string | undefined,
  seen: Set<string>,
): number {
  // Not the sender's fault: it tries again. A 401 would end the delivery. §6.4
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
