import type { ServerHttp2Stream } from "node:http2";

/** How long a body may take, except an import's. Node enforces it for HTTP/1.1, `closeUnlessRead` for HTTP/2. */
export const BODY_MS = 30_000;

/** Closes an HTTP/2 stream with a code if its body has not ended `afterMs` from now, even while data arrives. */
export function closeUnlessRead(stream: ServerHttp2Stream, afterMs: number, code: number): void {
  const timer = setTimeout(() => {
    if (!stream.readableEnded) stream.close(code);
  }, afterMs);
  stream.once("close", () => clearTimeout(timer));
}
