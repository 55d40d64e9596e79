import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { afterEach, beforeEach } from "vitest";
import { createSender, type SenderOptions } from "../../workflows/src/http/sender.ts";
import { type Behaviour, type Receiver, startReceiver } from "./harness-receiver.ts";
import { type Certificate, sharedCertificates } from "./harness-receiver-certificates.ts";

const AT = "2026-03-01T12:00:00.003417Z";
export const EVENT_ID = "wev_4h8j2k6l0m3n5p7";
/** Has umlauts, an emoji and odd spacing. A receiver that parses it and serializes it again gets other bytes. */
export const BODY = Buffer.from(
  `{ "id":"${EVENT_ID}",  "type":"donation.created","created_at":"${AT}","test":false,` +
    `"data":{"id":"8k2m4x0q9z7w1ab","amount_cents":500,"currency":"eur","donor_name":"Jürgen 🎈",` +
    `"message":null,"paid_at":"${AT}"}}\n`,
);
export const HEADERS = {
  "Content-Type": "application/json",
  "Service-Event-Id": EVENT_ID,
  "Service-Timestamp": "1760000000",
  "Service-Attempt": "3",
  "Service-Signature": `v1=${"0".repeat(64)}`,
};

/** Creates a sender that trusts the test CA. It may reach the receivers that `receive` starts. */
export function createSenderHarness(options: SenderOptions = {}) {
  const certificates = sharedCertificates();
  const receivers: Receiver[] = [];
  const allowedLoopback = new Set<string>();
  const sender = createSender({ extraCa: certificates.ca, allowedLoopback, ...options });
  return {
    certificates,
    sender,
    /** Starts a receiver and allows it as a target. `null` as certificate means TCP without TLS. */
    receive: async (
      behaviour: Behaviour,
      certificate: Certificate | null = certificates.good,
      host?: string,
    ): Promise<Receiver> => {
      const receiver = await startReceiver(behaviour, certificate ?? undefined, host);
      receivers.push(receiver);
      for (const host of ["receiver.test", "a.receiver.test", "127.0.0.1", "::1"]) {
        allowedLoopback.add(`${host}:${receiver.port}`);
      }
      return receiver;
    },
    post: ({ port }: Pick<Receiver, "port">, host = "receiver.test") =>
      sender.attempt({ url: `https://${host}:${port}/hook?x=1`, headers: HEADERS, body: BODY }),
    stop: async () => {
      sender.close();
      await Promise.all(receivers.map((receiver) => receiver.stop()));
    },
  };
}

/** The sockets that this process opens during a test, and the addresses that they try. */
export function useOpenedSockets() {
  const opened: Socket[] = [];
  const tried: string[] = [];
  const keep = (message: unknown) => {
    const { socket } = message as { socket: Socket }; // The message of node:net's channel
    opened.push(socket);
    socket.on("connectionAttempt", (address) => tried.push(address));
  };
  beforeEach(() => {
    opened.length = 0;
    tried.length = 0;
    subscribe("net.client.socket", keep);
  });
  afterEach(() => {
    unsubscribe("net.client.socket", keep);
  });
  return { opened, tried };
}
