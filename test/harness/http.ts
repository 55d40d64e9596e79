import http from "node:http";
import https from "node:https";

/** A request as it is sent. Only the Host header is added. */
export type HttpRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Shorthand for `authorization: Bearer …`. */
  readonly apiKey?: string;
  readonly body?: string;
  /** The CA certificate (PEM) of a port with TLS. */
  readonly ca?: string | undefined;
};

/** An answer with the exact bytes of its body. */
export type HttpAnswer = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawHeaders: readonly string[];
  readonly setCookie: readonly string[];
  readonly bytes: Buffer;
  readonly text: string;
  /** Parses the body as JSON. Throws if it is not JSON. */
  readonly json: <T = never>() => T;
};

export function requestOf(port: number, path: string, request: HttpRequest): Promise<HttpAnswer> {
  const { method = "GET", apiKey, body, ca } = request;
  const headers = { ...request.headers, ...(apiKey && { authorization: `Bearer ${apiKey}` }) };
  const options = { host: "127.0.0.1", port, path, method };
  return new Promise((resolve, reject) => {
    const sent = { ...options, headers: headers as http.OutgoingHttpHeaders };
    const outgoing = ca ? https.request({ ...sent, ca }) : http.request(sent);
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      incoming.toArray().then((chunks: Buffer[]) => {
        const bytes = Buffer.concat(chunks);
        const text = bytes.toString("utf8");
        resolve({
          ...{ method, path, bytes, text },
          status: incoming.statusCode ?? 0,
          headers: incoming.headers as Record<string, string | undefined>,
          rawHeaders: incoming.rawHeaders,
          setCookie: incoming.headers["set-cookie"] ?? [],
          json: () => JSON.parse(text),
        });
      }, reject);
    });
    outgoing.end(body);
  });
}
