import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { isPortFree, LOOPBACK } from "../../dev-stack/src/free-port.ts";
import { statusFromError, verify } from "../../receiver-kit/src/index.ts";
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

/**
 * Starts the receiver, on the last run's port if it is free. By default it makes its own certificate. It reads its
 * signing secret for every request, so that it verifies the first event as soon as the secret is stored.
 */
export async function startDemoReceiver(
  lastPort: number | undefined,
  readSecret: () => Promise<string | undefined>,
  { cert, key }: SelfSigned = makeSelfSigned(Date.now()),
): Promise<DemoReceiver> {
  const seen = new Set<string>();
  const server = createServer({ cert, key }, async (request, response) => {
    response.writeHead(await receive(request, await readSecret(), seen)).end();
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
async function receive(
  request: IncomingMessage,
  secrets: string | undefined,
  seen: Set<string>,
): Promise<number> {
  try {
    const body = await buffer(request);
    const { id } = await verify(body, request.headers, { secrets });
    if (!seen.has(id)) process.stdout.write(`Webhook event  ${printable(body)}\n`);
    seen.add(id);
    return 204;
  } catch (error) {
    // Without a signing secret the status is 500, and the sender tries again. §6.4
    return statusFromError(error);
  }
}

/**
 * Escapes characters that JSON leaves: control characters that can change a terminal, and marks that can reverse text.
 */
function printable(json: Buffer): string {
  return json
    .toString("utf8")
    .replace(
      /[\u007f-\u009f\p{Bidi_Control}]/gu,
      (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}
