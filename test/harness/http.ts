import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { buffer } from "node:stream/consumers";

/** A request to send. Node adds Host and Connection, and Content-Length to a POST. */
export type HttpRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Shorthand for `authorization: Bearer …`. */
  readonly apiKey?: string | undefined;
  readonly body?: string;
  /** The CA certificate (PEM) of a port with TLS. */
  readonly ca?: string | undefined;
};

/** An answer with the exact bytes of its body. */
export type HttpAnswer = Awaited<ReturnType<typeof requestOf>>;

export async function requestOf(port: number, path: string, request: HttpRequest) {
  const { method = "GET", apiKey, body, ca } = request;
  const headers = { ...request.headers, ...(apiKey && { authorization: `Bearer ${apiKey}` }) };
  const sent = {
    ...{ host: "127.0.0.1", port, path, method },
    headers: headers as http.OutgoingHttpHeaders,
  };
  const outgoing = ca ? https.request({ ...sent, ca }) : http.request(sent);
  // Ignores errors here: before an answer they reject `once`, and after its beginning they end `incoming`.
  outgoing.on("error", () => undefined).end(body);
  const [incoming] = (await once(outgoing, "response")) as [http.IncomingMessage];
  const bytes = await buffer(incoming);
  const text = bytes.toString("utf8");
  return {
    ...{ method, path, bytes, text },
    status: incoming.statusCode ?? 0,
    headers: incoming.headers as Readonly<Record<string, string | undefined>>,
    rawHeaders: incoming.rawHeaders,
    setCookie: incoming.headers["set-cookie"] ?? [],
    /** Parses the body as JSON. Throws if it is not JSON. */
    json: <T = never>(): T => JSON.parse(text),
  };
}

/** Sends only the head of a POST. Resolves with the open request once the server has read the head. */
export async function sendHead(port: number, path: string, headers: http.OutgoingHttpHeaders) {
  const sent = { ...headers, expect: "100-continue" };
  const request = http.request({ host: "127.0.0.1", port, path, method: "POST", headers: sent });
  request.flushHeaders();
  await once(request, "continue");
  return request;
}
