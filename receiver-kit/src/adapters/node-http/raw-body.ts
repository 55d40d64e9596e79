import type { IncomingMessage } from "node:http";
import { BodyTooLargeError } from "../../receiver/problem.ts";
import { checkAnnouncedLength } from "../../receiver/read-stream.ts";
import { VerificationError } from "../../verification-error.ts";

const READ_BEFORE = "the request was read before; call the receiver first";
const DECODED = "something called request.setEncoding() before; call the receiver first";

/** Reads the bytes of a Node request. Throws `body_not_raw` if something read them before. */
export async function readRawBody(
  request: IncomingMessage,
  limitBytes: number,
  readBefore = READ_BEFORE,
): Promise<Uint8Array> {
  if (request.readableDidRead || request.readableEnded) {
    throw new VerificationError("body_not_raw", readBefore);
  }
  if (request.readableEncoding) throw new VerificationError("body_not_raw", DECODED);
  // A destroyed request has emitted "close" already, so reading would never end.
  if (request.destroyed) throw new Error("the connection closed before the body was read");
  checkAnnouncedLength(request.headers["content-length"], limitBytes);
  // `concat` throws if the encoding was set meanwhile. It runs here, because an error in the listener of "end" would
  // end the process.
  return Buffer.concat(await collect(request, limitBytes));
}

/** Reads by events, because leaving an async iteration early would destroy the socket before the answer. */
function collect(request: IncomingMessage, limitBytes: number): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (finish: () => void) => {
      request.off("data", onData).off("end", onEnd).off("error", onError).off("close", onClose);
      finish();
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= limitBytes) return;
      request.pause();
      settle(() => reject(new BodyTooLargeError(`more than ${limitBytes} bytes`)));
    };
    const onEnd = () => settle(() => resolve(chunks));
    const onError = (error: Error) => settle(() => reject(error));
    const onClose = () => settle(() => reject(new Error("the connection closed within the body")));
    request.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
  });
}
