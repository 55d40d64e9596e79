import type { ServerHttp2Stream } from "node:http2";

/** How long a body may take, but for an import's. Node holds HTTP/1.1 to it, and `closeUnlessRead` HTTP/2. */
export const BODY_MS = 30_000;

/** Closes an HTTP/2 stream with a code when its body has not ended `afterMs` from now, however much still comes. */
export function closeUnlessRead(stream: ServerHttp2Stream, afterMs: number, code: number): void {
  const timer = setTimeout(() => {
    if (!stream.readableEnded) stream.close(code);
  }, afterMs);
  stream.once("close", () => clearTimeout(timer));
}
