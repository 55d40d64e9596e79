import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
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

/** Reads the signing secret: at every request, so that the first event finds it as soon as it is stored. */
export type ReadSecret = () => Promise<string | undefined>;

/** Starts the receiver, on the port of the last run when it is free, with a certificate of its own unless one is given. */
export async function startDemoReceiver(
  lastPort: number | undefined,
  readSecret: ReadSecret,
  { cert, key }: SelfSigned = makeSelfSigned(Date.now()),
): Promise<DemoReceiver> {
  const seen = new Set<string>();
  const server = createServer({ cert, key }, async (request, response) => {
    try {
      await receive(request, response, readSecret, seen);
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
  readSecret: ReadSecret,
  seen: Set<string>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const secret = await readSecret();
  if (secret === undefined) {
    // Not the sender's fault: it tries again. A 401 would end the delivery. §6.4
    response.writeHead(503).end();
    return;
  }
  const header = (name: string) => String(request.headers[name] ?? "");
  const [id, timestamp] = [header("service-event-id"), header("service-timestamp")];
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS;
  const signed = createHmac("sha256", secret).update(`${timestamp}.${id}.`).update(body);
  const [wanted, given] = [`v1=${signed.digest("hex")}`, header("service-signature")].map((text) =>
    Buffer.from(text),
  );
  const isGenuine =
    wanted !== undefined && wanted.length === given?.length && timingSafeEqual(wanted, given);
  if (!isFresh || !isGenuine) {
    response.writeHead(401).end();
    return;
  }
  if (!seen.has(id)) process.stdout.write(`Webhook event  ${body.toString("utf8")}\n`);
  seen.add(id);
  response.writeHead(204).end();
}
