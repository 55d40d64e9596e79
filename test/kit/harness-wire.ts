import { connect } from "node:tls";

/** Encodes a request as it was received. */
export function requestFrom(rawHeaders: readonly string[], body: Uint8Array): Buffer {
  let head = "POST /webhooks HTTP/1.1\r\n";
  for (let index = 0; index < rawHeaders.length; index += 2) {
    head += `${rawHeaders[index]}: ${rawHeaders[index + 1]}\r\n`;
  }
  return Buffer.concat([Buffer.from(`${head}\r\n`, "latin1"), body]);
}

/** Sends a request's bytes over TLS. Returns the answer's status, or 0 without an answer. */
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
