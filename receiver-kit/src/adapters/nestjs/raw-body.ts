import type { IncomingMessage } from "node:http";
import { BodyTooLargeError } from "../../receiver/problem.ts";
import { readRawBody as readFromStream } from "../node-http/raw-body.ts";

const READ_BEFORE =
  "Nest's body parser ran first; create the app with NestFactory.create(AppModule, { rawBody: true })";

/** A request of either Nest platform: Fastify's holds Node's as `raw`. */
export type NestRequest = (IncomingMessage | { raw: IncomingMessage }) & { rawBody?: unknown };

/** Returns the bytes that `rawBody: true` kept, or reads them where Nest parses nothing. */
export async function readRawBody(request: NestRequest, limitBytes: number): Promise<Uint8Array> {
  const { rawBody } = request;
  if (!(rawBody instanceof Uint8Array)) {
    return readFromStream(nodeRequest(request), limitBytes, READ_BEFORE);
  }
  if (rawBody.length > limitBytes) throw new BodyTooLargeError(`${rawBody.length} bytes`);
  return rawBody;
}

/** Returns Node's own request of either platform. */
export function nodeRequest(request: NestRequest): IncomingMessage {
  return "raw" in request ? request.raw : request;
}
