import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Takes spans as a collector does, and keeps none. */
export type SpanSink = { readonly url: string; stop(): void };

/** Starts one on loopback. */
export async function startSpanSink(): Promise<SpanSink> {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () =>
      response.writeHead(200, { "Content-Type": "application/json" }).end("{}"),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
