import type { NodeRequest } from "../rpc/connections.ts";
import type { NodeResponse } from "../rpc/listener.ts";
import { ENCODINGS, type Encoding, type PageFiles } from "./page-files.ts";

type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
};

const INDEX = "/index.html";

/**
 * Creates the handler of the page's requests. It serves only files that were read at the start, by exact name. A
 * path without a dot gets index.html, because the page does its own routing.
 */
export function createServePage(files: PageFiles) {
  return (request: NodeRequest, response: NodeResponse): void => {
    const { status, headers, body } = answerTo(request, files);
    response.statusCode = status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.setHeader("content-length", Buffer.byteLength(body));
    if (request.method === "HEAD") response.end();
    else response.end(body);
  };
}

function answerTo({ method, url = "", headers }: NodeRequest, files: PageFiles): Answer {
  if (method !== "GET" && method !== "HEAD") {
    const refused = textAnswer(405, "The dashboard takes GET, HEAD and POST.");
    return { ...refused, headers: { ...refused.headers, allow: "GET, HEAD, POST" } };
  }
  if (!files.has(INDEX)) {
    const build = "run `npm run build --workspace dashboard`, or set DASHBOARD_FILES to its folder";
    return textAnswer(503, `The dashboard has no page: ${build}, then start again.`);
  }
  const [path = ""] = url.split("?", 1);
  const file = files.get(path.includes(".") ? path : INDEX);
  if (file === undefined) return textAnswer(404, "The dashboard has no such file.");
  const encoding = encodingFor(`${headers["accept-encoding"] ?? ""}`);
  return {
    status: 200,
    headers: { ...file.headers, ...(encoding !== "identity" && { "content-encoding": encoding }) },
    body: file.bytes[encoding],
  };
}

function textAnswer(status: number, text: string): Answer {
  const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
  return { status, headers, body: `${text}\n` };
}

/** Returns the best encoding that a browser accepts. Ignores `q=0`, because no browser refuses an encoding by name. */
function encodingFor(accepted: string): Encoding {
  const names = accepted.split(",").map((each) => each.split(";", 1)[0]?.trim());
  return ENCODINGS.find((encoding) => names.includes(encoding)) ?? "identity";
}
