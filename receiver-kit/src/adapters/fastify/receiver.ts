import type { FastifyInstance } from "fastify";
import { BodyTooLargeError, problemFromError } from "../../receiver/problem.ts";
import { createReceive } from "../../receiver/receive.ts";
import { DEFAULT_BODY_LIMIT_BYTES, type ReceiverOptions } from "../../receiver/receiver-options.ts";
import { reportProblem } from "../../receiver/report-problem.ts";
import { keepBodiesRaw, readRawBody } from "./raw-body.ts";

/** The options of the Fastify adapter. */
export interface FastifyReceiverOptions<Context> extends ReceiverOptions<Context> {
  /** The path of the route, after the prefix with which the plug-in is registered. */
  readonly url: string;
}

/**
 * Creates a plug-in for Fastify 4 and 5 with one POST route.
 *
 * The route has its own body parser in its own scope. The app's other routes keep their parsers.
 */
export function createFastifyReceiver<Context>(
  options: FastifyReceiverOptions<Context>,
): (scope: FastifyInstance) => Promise<void> {
  const bodyLimit = options.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES;
  const receive = createReceive(options);
  return async (scope) => {
    keepBodiesRaw(scope, bodyLimit);
    scope.setErrorHandler<Error & { statusCode?: number }>(async (error, _request, reply) => {
      const isTooLarge = error.statusCode === 413;
      const problem = problemFromError(isTooLarge ? new BodyTooLargeError(error.message) : error);
      void reportProblem(options, problem);
      return reply.status(problem.status).send();
    });
    scope.post(options.url, async (request, reply) => {
      const status = await receive(request.headers, () => readRawBody(request.body));
      return reply.status(status).send();
    });
  };
}
