import type { IncomingMessage, ServerResponse } from "node:http";
import { createReceive } from "../../receiver/receive.ts";
import type { ReceiverOptions } from "../../receiver/receiver-options.ts";
import { answer } from "./answer.ts";
import { readRawBody } from "./raw-body.ts";

/** Creates a listener for `node:http` and `node:https` servers. */
export function createNodeReceiver<Context>(
  options: ReceiverOptions<Context>,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const receive = createReceive(options);
  return async (request, response) => {
    const status = await receive(request.headers, (limitBytes) => readRawBody(request, limitBytes));
    answer(response, status);
  };
}
