import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

/** A span of OTLP/JSON, with its attributes by name and the name of its process. */
export type ReceivedSpan = {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly string[];
  readonly isFailed: boolean;
};

type Value = { stringValue?: string; intValue?: string | number };
type Attributes = readonly { key: string; value: Value }[];
type Span = {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes?: Attributes;
  links?: readonly { spanId: string }[];
  status?: { code?: number };
};
type Message = {
  resourceSpans: readonly {
    resource: { attributes: Attributes };
    scopeSpans: readonly { spans: readonly Span[] }[];
  }[];
};
/** `STATUS_CODE_ERROR`. */
const FAILED = 2;

/** Starts a collector of spans on loopback: OTLP over HTTP in JSON. */
export async function startSpanReceiver() {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    const { "content-type": type, "content-encoding": encoding } = request.headers;
    const isTraces = request.url === "/v1/traces" && type === "application/json";
    if (request.method !== "POST" || !isTraces) return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const text = (encoding === "gzip" ? gunzipSync(body) : body).toString("utf8");
    texts.push(text);
    spans.push(...spansOf(JSON.parse(text)));
    response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans: spans as readonly ReceivedSpan[],
    /** Everything received, unparsed. */
    text: () => texts.join("\n"),
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function spansOf({ resourceSpans }: Message): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(byName(resource.attributes)["service.name"]);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => spanOf(service, span)));
  });
}

function spanOf(service: string, span: Span): ReceivedSpan {
  const { name, traceId, spanId, parentSpanId, attributes = [], links = [], status } = span;
  return {
    ...{ service, name, traceId, spanId },
    parentSpanId: parentSpanId || undefined,
    attributes: byName(attributes),
    links: links.map((link) => link.spanId),
    isFailed: status?.code === FAILED,
  };
}

function byName(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue } }) => [
      key,
      stringValue ?? Number(intValue),
    ]),
  );
}
