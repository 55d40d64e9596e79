import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { isPortFree, LOOPBACK } from "./free-port.ts";
import { makeSelfSigned } from "./self-signed.ts";

/** A receiver of webhook events on this machine that prints what it verified. */
export type DemoReceiver = {
  readonly port: number;
  /** `host:port`, to be allowed as a target. */
  readonly target: string;
  /** PEM; to be trusted by the sender. */
  readonly certificate: string;
  /** Sets the signing secret; without one every request is refused. */
  setSecret(secret: string | undefined): void;
  stop(): Promise<void>;
};

const TOLERANCE_SECONDS = 5 * 60;

/** Starts the receiver, on the port of the last run when it is free. */
export async function startDemoReceiver(lastPort: number | undefined): Promise<DemoReceiver> {
  const { cert, key } = makeSelfSigned(Date.now());
  let secret: string | undefined;
  const seen = new Set<string>();
  const server = createServer({ cert, key }, async (request, response) => {
    try {
      await receive(request, response, secret, seen);
    } catch {
      response.writeHead(400).end();
    }
  });
  const port = lastPort !== undefined && (await isPortFree(lastPort)) ? lastPort : 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, LOOPBACK, resolve);
  });
  const { port: taken } = server.address() as AddressInfo; // it listens on TCP
  return {
    port: taken,
    target: `${LOOPBACK}:${taken}`,
    certificate: cert,
    setSecret(next) {
      secret = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Does what the contract asks of receivers: verify, recognize what came before, answer. §6.3 */
async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  secret: string | undefined,
  seen: Set<string>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const header = (name: string) => String(request.headers[name] ?? "");
  const [id, timestamp] = [header("service-event-id"), header("service-timestamp")];
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS;
  const signed = createHmac("sha256", secret ?? "")
    .update(`${timestamp}.${id}.`)
    .update(body);
  const [wanted, given] = [`v1=${signed.digest("hex")}`, header("service-signature")].map((text) =>
    Buffer.from(text),
  );
  const isGenuine =
    wanted !== undefined && wanted.length === given?.length && timingSafeEqual(wanted, given);
  if (secret === undefined || !isFresh || !isGenuine) {
    response.writeHead(401).end();
    return;
  }
  if (!seen.has(id)) process.stdout.write(`Webhook event  ${body.toString("utf8")}\n`);
  seen.add(id);
  response.writeHead(204).end();
}
