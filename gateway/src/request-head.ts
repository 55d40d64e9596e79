/** What the gateway reads of a request's headers. */
export type RequestHead = {
  readonly authorization: readonly string[];
  readonly forwardedFor: readonly string[];
  readonly hosts: number;
  readonly hasBody: boolean;
  readonly expectsContinue: boolean;
};

/** Reads names and values in turn, as sent: joined headers would hide that one came twice. */
export function readRequestHead(rawHeaders: readonly string[]): RequestHead {
  const authorization: string[] = [];
  const forwardedFor: string[] = [];
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
      case "host":
        hosts += 1;
        break;
      case "content-length":
        hasBody ||= value !== "0";
        break;
      case "transfer-encoding":
        hasBody = true;
        break;
      case "expect":
        expectsContinue = true;
        break;
    }
  }
  return { authorization, forwardedFor, hosts, hasBody, expectsContinue };
}
