/** The headers that the gateway reads. */
export type RequestHead = {
  readonly authorization: readonly string[];
  readonly forwardedFor: readonly string[];
  readonly prefer: readonly string[];
  readonly hosts: number;
  readonly transferEncoding: readonly string[];
  readonly hasBody: boolean;
  readonly expectsContinue: boolean;
};

/** Reads the raw list of names and values: Node's joined headers hide repetitions. */
export function readRequestHead(rawHeaders: readonly string[]): RequestHead {
  const authorization: string[] = [];
  const forwardedFor: string[] = [];
  const prefer: string[] = [];
  const transferEncoding: string[] = [];
  let hosts = 0;
  let hasBody = false;
  let expectsContinue = false;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const value = rawHeaders[index + 1] ?? "";
    switch (rawHeaders[index]?.toLowerCase()) {
      case "authorization":
        authorization.push(value);
        break;
      case "x-forwarded-for":
        forwardedFor.push(value);
        break;
      case "prefer":
        prefer.push(value);
        break;
      case "host":
        hosts += 1;
        break;
      case "content-length":
        hasBody ||= value !== "0";
        break;
      case "transfer-encoding":
        transferEncoding.push(value);
        hasBody = true;
        break;
      case "expect":
        expectsContinue = true;
        break;
    }
  }
  return { authorization, forwardedFor, prefer, hosts, transferEncoding, hasBody, expectsContinue };
}

/** Returns why a head that the parser accepted is not valid HTTP, or `undefined` if it is valid. */
export function faultOf(head: RequestHead, httpVersion: string): string | undefined {
  const isOld = httpVersion === "1.0";
  if (head.hosts > 1 || (head.hosts === 0 && !isOld)) {
    return "An HTTP/1.1 request has exactly one Host header.";
  }
  // The end of a body must be unambiguous. Otherwise a proxy in front may see other requests than the gateway does.
  const [coding, ...others] = head.transferEncoding;
  const isChunked = coding?.toLowerCase() === "chunked" && others.length === 0 && !isOld;
  if (coding !== undefined && !isChunked) {
    return "The one transfer coding of a request is chunked, in HTTP/1.1.";
  }
  return undefined;
}
