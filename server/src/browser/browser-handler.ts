import type { NodeRequest } from "../rpc/connections.ts";
import type { NodeResponse } from "../rpc/listener.ts";

type Handler = (request: NodeRequest, response: NodeResponse) => void;

/**
 * Creates the handler of browsers' requests. Only a POST can be a call, so no link can make a call. All other methods
 * get the page's files. Every answer has the security headers. `answerCall` returns false if a request is no call.
 */
export function createBrowserHandler(
  headers: ReadonlyMap<string, string>,
  answerCall: (request: NodeRequest, response: NodeResponse) => boolean,
  servePage: Handler,
): Handler {
  return (request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    if (request.method !== "POST") return servePage(request, response);
    response.setHeader("cache-control", "no-store");
    if (answerCall(request, response)) return;
    response.statusCode = 404;
    response.end();
  };
}
