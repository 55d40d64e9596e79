import { checkAnnouncedLength, readChunks } from "../../receiver/read-stream.ts";
import { VerificationError } from "../../verification-error.ts";

/** Reads the bytes of a Fetch request. Throws `body_not_raw` if something read them before. */
export async function readRawBody(request: Request, limitBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed) {
    throw new VerificationError(
      "body_not_raw",
      "the request was read before; call the receiver first, or read from request.clone() elsewhere",
    );
  }
  checkAnnouncedLength(request.headers.get("content-length"), limitBytes);
  return request.body ? readChunks(chunksOf(request.body), limitBytes) : new Uint8Array();
}

/** Yields the chunks of a stream. It uses a reader, because not every runtime's ReadableStream is async iterable. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    ended = true;
  } finally {
    // The cancellation is not awaited: a sender that never ends its body must not delay the answer.
    if (!ended) reader.cancel().catch(() => {});
  }
}
