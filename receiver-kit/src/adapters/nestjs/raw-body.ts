import type { IncomingMessage } from "node:http";
import { BodyTooLargeError } from "../../receiver/problem.ts";
import { readRawBody as readFromStream } from "../node-http/raw-body.ts";

const READ_BEFORE =
  "Nest's body parser ran first; create the app with NestFactory.create(AppModule, { rawBody: true })";

/** A request of either Nest platform. On Fastify, `raw` is Node's request. */
export type NestRequest = (IncomingMessage | { raw: IncomingMessage }) & { rawBody?: unknown };

/** Returns the bytes that `rawBody: true` kept, or reads them if Nest parses nothing. */
export async function readRawBody(request: NestRequest, limitBytes: number): Promise<Uint8Array> {
  const { rawBody } = request;
  if (!(rawBody instanceof Uint8Array)) {
    return readFromStream(nodeRequest(request), limitBytes, READ_BEFORE);
  }
  if (rawBody.length > limitBytes) throw new BodyTooLargeError(`${rawBody.length} bytes`);
  return rawBody;
}

/** Returns Node's request, on either platform. */
export function nodeRequest(request: NestRequest): IncomingMessage {
  return "raw" in request ? request.raw : request;
}
