import type { FastifyInstance } from "fastify";
import { VerificationError } from "../../verification-error.ts";

/** Makes an encapsulated scope keep its bodies as bytes, for any content type. */
export function keepBodiesRaw(scope: FastifyInstance, bodyLimit: number): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", { parseAs: "buffer", bodyLimit }, (_request, body, done) =>
    done(null, body),
  );
}

/** Returns the bytes that the scope's parser kept. */
export function readRawBody(body: unknown): Uint8Array {
  if (body === undefined || body === null) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  throw new VerificationError("body_not_raw", "a hook of the app replaced request.body");
}
