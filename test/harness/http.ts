import http from "node:http";

/** A request as it goes over the wire: nothing is added but Host. */
export type HttpRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Shorthand for `authorization: Bearer …`. */
  readonly apiKey?: string;
};

/** An answer, its body as bytes were sent. */
export type HttpAnswer = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawHeaders: readonly string[];
  readonly text: string;
  /** The body as JSON; throws when it is none. */
  readonly json: <T = never>() => T;
};

/** Sends one request to a port of this machine and reads its answer. */
export function requestOf(port: number, path: string, request: HttpRequest): Promise<HttpAnswer> {
  const { method = "GET", apiKey } = request;
  const headers = { ...request.headers, ...(apiKey && { authorization: `Bearer ${apiKey}` }) };
  return new Promise((resolve, reject) => {
    const outgoing = http.request(
      { host: "127.0.0.1", port, path, method, headers: headers as http.OutgoingHttpHeaders },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({
            method,
            path,
            status: incoming.statusCode ?? 0,
            headers: incoming.headers as Record<string, string | undefined>,
            rawHeaders: incoming.rawHeaders,
            text,
            json: () => JSON.parse(text),
          });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end();
  });
}
