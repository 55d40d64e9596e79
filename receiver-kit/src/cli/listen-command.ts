import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import { inspect, parseArgs } from "node:util";
import { createNodeReceiver } from "../adapters/node-http/receiver.ts";
import { createMemoryStore } from "../stores/memory/store.ts";
import { VerificationError } from "../verification-error.ts";
import type { WebhookEvent } from "../webhook-event.ts";
import { type Command, findSecret, UsageError } from "./command.ts";

const DEFAULT_PORT = "8787";

/** Listens on this machine and prints each verified event until it is interrupted. */
export const listenCommand: Command = async (args, context) => {
  const { values } = parseArgs({
    args: [...args],
    options: { port: { type: "string", default: DEFAULT_PORT }, secret: { type: "string" } },
  });
  const { print } = context;
  const ownSecret = findSecret(values.secret, context);
  const secret = ownSecret ?? `whsec_${randomBytes(32).toString("base64")}`;
  const server = createServer(createPrintingReceiver(secret, print));
  const port = await listen(server, parsePort(values.port));
  print(`listening on http://127.0.0.1:${port}/`);
  if (!ownSecret) print(`no secret was given; this one was generated: WEBHOOK_SECRET='${secret}'`);
  await untilInterrupted(server);
  return 0;
};

function createPrintingReceiver(secret: string, print: (line: string) => void) {
  return createNodeReceiver({
    secrets: secret,
    store: createMemoryStore(),
    handle: (webhookEvent) => print(formatEvent(webhookEvent)),
    onProblem({ status, error }) {
      const reason = error instanceof VerificationError ? `${error.reason}: ` : "";
      print(`✗ answered ${status}: ${reason}${error instanceof Error ? error.message : error}`);
    },
  });
}

function formatEvent(webhookEvent: WebhookEvent): string {
  const { type, id, created_at, test, data } = webhookEvent;
  const details = inspect(data, { depth: 8, breakLength: 80 });
  const head = [type, id, created_at].map((text) => JSON.stringify(text).slice(1, -1)).join("  ");
  return `✓ ${head}${test ? "  (test)" : ""}\n  ${details.replaceAll("\n", "\n  ")}`;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError("--port is a number from 0 to 65535");
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}

function untilInterrupted(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      server.close();
      server.closeAllConnections();
      resolve();
    };
    process.once("SIGINT", stop).once("SIGTERM", stop);
  });
}
