import { createServer } from "node:http";
import { listenLocally } from "../harness/listening.ts";

type Attributes = readonly {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string | number };
}[];
/** A message of OTLP/JSON. */
type Message = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
};
type Span = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes?: Attributes;
  readonly status?: { readonly code?: number };
};
/** `STATUS_CODE_ERROR`. */
const FAILED = 2;

/** A span with its attributes by name and the name of its process. */
export type ReceivedSpan = ReturnType<typeof spanOf>;

/** Starts a collector of spans on loopback: OTLP over HTTP in JSON. */
export async function startSpanReceiver() {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    const isTraces =
      request.url === "/v1/traces" && request.headers["content-type"] === "application/json";
    if (request.method !== "POST" || !isTraces) return void response.writeHead(404).end();
    const text = Buffer.concat(await request.toArray()).toString("utf8");
    texts.push(text);
    spans.push(...spansOf(JSON.parse(text)));
    response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
  });
  return {
    endpoint: `http://127.0.0.1:${await listenLocally(server)}`,
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

const spanOf = (service: string, { attributes = [], status, ...span }: Span) => ({
  ...{ service, ...span, attributes: byName(attributes) },
  parentSpanId: span.parentSpanId || undefined,
  isFailed: status?.code === FAILED,
});

function byName(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  );
}
