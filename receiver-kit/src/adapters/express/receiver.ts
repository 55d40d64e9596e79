import type { ServerResponse } from "node:http";
import { createReceive } from "../../receiver/receive.ts";
import type { ReceiverOptions } from "../../receiver/receiver-options.ts";
import { answer } from "../node-http/answer.ts";
import { type ExpressRequest, readRawBody } from "./raw-body.ts";

/** Creates a route handler for Express 4 and 5. */
export function createExpressReceiver<Context>(
  options: ReceiverOptions<Context>,
): (request: ExpressRequest, response: ServerResponse) => Promise<void> {
  const receive = createReceive(options);
  return async (request, response) => {
    const status = await receive(request.headers, (limitBytes) => readRawBody(request, limitBytes));
    answer(response, status);
  };
}
