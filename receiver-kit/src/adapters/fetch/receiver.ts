import { createReceive } from "../../receiver/receive.ts";
import type { ReceiverOptions } from "../../receiver/receiver-options.ts";
import { readRawBody } from "./raw-body.ts";

/** Creates a receiver for everything that uses the Fetch API: Hono, Next.js, Workers, Deno, Bun. */
export function createFetchReceiver<Context>(
  options: ReceiverOptions<Context>,
): (request: Request) => Promise<Response> {
  const receive = createReceive(options);
  return async (request) => {
    const status = await receive(request.headers, (limitBytes) => readRawBody(request, limitBytes));
    return new Response(null, { status });
  };
}
