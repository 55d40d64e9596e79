import type { Socket } from "node:net";
import { webhookPayload } from "../../server/src/webhook-event/webhook-event.ts";
import { WebhookEventKind } from "../../server/src/webhook-event/webhook-event-kind.ts";
import { createSender, type SenderOptions } from "../../workflows/src/http/sender.ts";
import { type Behaviour, type Receiver, startReceiver } from "./harness-receiver.ts";
import { type Certificates, makeCertificates } from "./harness-receiver-certificates.ts";

/** The certificate that a receiver presents. `none` means TCP without TLS. */
export type CertificateKind = Exclude<keyof Certificates, "ca"> | "none";

/** The body and headers of all POSTs in these tests. */
export const BODY = webhookPayload(
  { id: "wev_4h8j2k6l0m3n5p7", createdAtMicros: 1_772_366_400_003_417, test: false },
  {
    kind: WebhookEventKind.DonationRefunded,
    record: {
      ...{ recordId: "8k2m4x0q9z7w1ab", amountCents: 1500, refundedAmountCents: 500 },
      ...{ currency: "eur", donorName: undefined, message: undefined, paidAt: 0 },
    },
  },
);
export const HEADERS = {
  "Content-Type": "application/json",
  "Service-Event-Id": "wev_4h8j2k6l0m3n5p7",
  "Service-Timestamp": "1760000000",
  "Service-Attempt": "3",
  "Service-Signature": `v1=${"0".repeat(64)}`,
};

/** Creates a sender that trusts the test CA. It may reach the receivers that `receive` starts. */
export function createSenderHarness(options: SenderOptions = {}) {
  const certificates = makeCertificates();
  const receivers: Receiver[] = [];
  const allowedLoopback = new Set<string>();
  const sender = createSender({ extraCa: certificates.ca, allowedLoopback, ...options });
  return {
    certificates,
    sender,
    /** Starts a receiver, with a certificate or without TLS, and allows it as a target. */
    receive: async (
      behaviour: Behaviour,
      kind: CertificateKind = "good",
      greet?: (socket: Socket) => void,
    ): Promise<Receiver> => {
      const certificate = kind === "none" ? undefined : certificates[kind];
      const receiver = await startReceiver(behaviour, certificate, greet && { greet });
      receivers.push(receiver);
      for (const host of ["receiver.test", "a.receiver.test", "127.0.0.1"]) {
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
