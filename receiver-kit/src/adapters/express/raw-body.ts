import type { IncomingMessage } from "node:http";
import { BodyTooLargeError } from "../../receiver/problem.ts";
import { readRawBody as readFromStream } from "../node-http/raw-body.ts";

const READ_BEFORE =
  "express.json() or another parser ran first; put this route above app.use(express.json()), " +
  "or keep the bytes with express.json({ verify: (req, res, bytes) => { req.rawBody = bytes; } })";

/** A request, with the fields that a body parser may have set. */
export type ExpressRequest = IncomingMessage & { body?: unknown; rawBody?: unknown };

/** Returns the bytes that `express.raw()` or a `verify` hook kept, or reads them from the request. */
export async function readRawBody(
  request: ExpressRequest,
  limitBytes: number,
): Promise<Uint8Array> {
  const kept = [request.rawBody, request.body].find((body) => body instanceof Uint8Array);
  if (!kept) return readFromStream(request, limitBytes, READ_BEFORE);
  if (kept.length > limitBytes) throw new BodyTooLargeError(`${kept.length} bytes`);
  return kept;
}
