/** The headers that the gateway reads. */
export type RequestHead = {
  readonly authorization: readonly string[];
  readonly forwardedFor: readonly string[];
  readonly prefer: readonly string[];
  readonly hosts: readonly string[];
  readonly transferEncoding: readonly string[];
  readonly hasBody: boolean;
  readonly expectsContinue: boolean;
  readonly asksUpgrade: boolean;
};

/** Reads the raw list of names and values, because Node's joined headers hide repetitions. */
export function readRequestHead(rawHeaders: readonly string[]): RequestHead {
  const authorization: string[] = [];
  const forwardedFor: string[] = [];
  const prefer: string[] = [];
  const transferEncoding: string[] = [];
  const hosts: string[] = [];
  let hasBody = false;
  let expectsContinue = false;
  let asksUpgrade = false;
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
        hosts.push(value);
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
      case "upgrade":
        asksUpgrade = true;
        break;
    }
  }
  return {
    ...{ authorization, forwardedFor, prefer, hosts, transferEncoding },
    ...{ hasBody, expectsContinue, asksUpgrade },
  };
}

/** Characters that neither a host nor a port can have. RFC 9110 §7.2 */
const NOT_IN_HOST = /[\s/?#@\\]/;

/** Returns why a head that the parser accepted is not valid HTTP, or `undefined` if it is valid. */
export function faultOf(head: RequestHead, httpVersion: string): string | undefined {
  const isOld = httpVersion === "1.0";
  // Refuses 0.9 and 2.0, which the parser accepts.
  if (!isOld && httpVersion !== "1.1") return "The version of a request is HTTP/1.1 or HTTP/1.0.";
  if (head.hosts.length > 1 || (head.hosts.length === 0 && !isOld)) {
    return "A request has one Host header. Only HTTP/1.0 may leave it out.";
  }
  if (head.hosts.some((host) => NOT_IN_HOST.test(host))) {
    return "The Host header holds a host, and a port if it is not the default.";
  }
  // The end of a body must be unambiguous. Otherwise a proxy in front may see other requests than the gateway does.
  const [coding, ...others] = head.transferEncoding;
  const isChunked = coding?.toLowerCase() === "chunked" && others.length === 0 && !isOld;
  if (coding !== undefined && !isChunked) {
    return "The only transfer coding that a request may have is chunked, given once, in HTTP/1.1.";
  }
  return undefined;
}
