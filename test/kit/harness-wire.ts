import { createHmac } from "node:crypto";
import { connect } from "node:tls";

/** Writes a request as it came over the wire. */
export function requestFrom(rawHeaders: readonly string[], body: Uint8Array): Buffer {
  let head = "POST /webhooks HTTP/1.1\r\n";
  for (let index = 0; index < rawHeaders.length; index += 2) {
    head += `${rawHeaders[index]}: ${rawHeaders[index + 1]}\r\n`;
  }
  return Buffer.concat([Buffer.from(`${head}\r\n`, "latin1"), body]);
}

/** What a request is signed over, and with. */
export type Signing = {
  readonly secret: string;
  readonly eventId: string;
  readonly body: Uint8Array;
  readonly timestampSeconds: number;
};

/** Returns the headers of a signed request, as pairs. §6.2, §6.3 */
export function signedHeaders(signing: Signing): string[] {
  const { secret, eventId, body, timestampSeconds } = signing;
  const mac = createHmac("sha256", secret).update(`${timestampSeconds}.${eventId}.`).update(body);
  return [
    ...["Host", "127.0.0.1"],
    ...["Content-Type", "application/json"],
    ...["Content-Length", String(body.length)],
    ...["Service-Event-Id", eventId],
    ...["Service-Timestamp", String(timestampSeconds)],
    ...["Service-Attempt", "1"],
    ...["Service-Signature", `v1=${mac.digest("hex")}`],
  ];
}

/** Sends a request's bytes over TLS; returns the answer's status, or 0 when none came. */
export function sendBytes(port: number, ca: string, request: Uint8Array): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", ca }, () => socket.write(request));
    let head = "";
    socket.on("data", (chunk) => {
      head += chunk.toString("latin1");
      const [, status] = /^HTTP\/1\.1 (\d{3}) .*\r\n\r\n/s.exec(head) ?? [];
      if (status === undefined) return;
      resolve(Number(status));
      socket.destroy();
    });
    socket.on("error", () => resolve(0));
    socket.on("close", () => resolve(0));
  });
}
