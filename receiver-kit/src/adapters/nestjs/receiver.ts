import { createReceive } from "../../receiver/receive.ts";
import type { ReceiverOptions } from "../../receiver/receiver-options.ts";
import { type NestRequest, nodeRequest, readRawBody } from "./raw-body.ts";

/** The response of either Nest platform. */
export interface NestResponse {
  status(status: number): { send(): unknown };
}

/**
 * Creates a function for a Nest controller's `@Post()` method, on Express or Fastify.
 *
 * Pass it the values of `@Req()` and `@Res()`. Create the app with `{ rawBody: true }`.
 */
export function createNestReceiver<Context>(
  options: ReceiverOptions<Context>,
): (request: NestRequest, response: NestResponse) => Promise<void> {
  const receive = createReceive(options);
  return async (request, response) => {
    const status = await receive(nodeRequest(request).headers, (limitBytes) =>
      readRawBody(request, limitBytes),
    );
    response.status(status).send();
  };
}
