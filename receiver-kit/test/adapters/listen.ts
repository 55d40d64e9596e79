import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { listenLocally } from "../../../test/harness/listening.ts";
import type { Listening } from "./conformance.ts";

/** Serves requests on a free loopback port. */
export async function listen(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener);
  return {
    url: `http://127.0.0.1:${await listenLocally(server)}/webhooks`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
