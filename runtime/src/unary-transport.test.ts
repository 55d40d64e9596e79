import { createServer, type RequestListener, type Server } from "node:http";
import { ActivityService, ErrorInfoSchema } from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import { listenLocally } from "../../test/harness/listening.ts";
import { connectToCore } from "./core-transport.ts";

/** A time longer than any test. A test times out if its call waits for this. */
const HOUR_MS = 3_600_000;

let server: Server;
let close: () => void;
afterEach(() => {
  close();
  server.closeAllConnections();
  server.close();
});

async function connectTo(listener: RequestListener): Promise<Client<typeof ActivityService>> {
  server = createServer(listener);
  const core = connectToCore({
    coreUrl: `http://127.0.0.1:${await listenLocally(server)}`,
    coreTls: {},
    revealCredential: () => "credential",
    credentialHeader: ["authorization", "Bearer "],
  });
  close = core.close;
  return createClient(ActivityService, core.transport);
}

type List = (
  request: { limit?: number | undefined },
  headers: Headers,
  signal: AbortSignal,
) => unknown;

/** Serves `list` with connect-node, as a core does. */
const serving = (list: List): RequestListener =>
  connectNodeAdapter({
    routes: (router) =>
      void router.rpc(
        ActivityService.method.listActivities,
        async (request, { requestHeader, responseHeader, responseTrailer, signal }) => {
          responseHeader.set("ratelimit", "limit=1");
          responseTrailer.set("behind", "it");
          await list(request, requestHeader, signal);
          return { etag: `limit ${request.limit}` };
        },
      ),
  });

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error),
  );

describe("a call over the transport to a core in another process, ADR 0032", () => {
  it("sends message, headers, credential and deadline, and returns message, headers and trailers", async () => {
    const seen: Record<string, string | null> = {};
    const client = await connectTo(
      serving((_request, headers) => {
        for (const name of ["authorization", "x-request-id", "connect-timeout-ms"]) {
          seen[name] = headers.get(name);
        }
      }),
    );
    const got: (string | null)[] = [];
    const page = await client.listActivities(
      { limit: 7 },
      {
        headers: { "X-Request-Id": "request" },
        timeoutMs: HOUR_MS,
        onHeader: (header) => got.push(header.get("ratelimit")),
        onTrailer: (trailer) => got.push(trailer.get("behind")),
      },
    );
    expect(page.etag).toBe("limit 7");
    expect(got).toEqual(["limit=1", "it"]);
    expect(seen).toEqual({
      authorization: "Bearer credential",
      "x-request-id": "request",
      "connect-timeout-ms": `${HOUR_MS}`,
    });
  });

  it("fails with the core's code, message, details and headers", async () => {
    const info = create(ErrorInfoSchema, { code: "invalid_cursor" });
    const client = await connectTo(
      serving(() => {
        const details = [{ desc: ErrorInfoSchema, value: info }];
        throw new ConnectError("no such cursor", Code.InvalidArgument, undefined, details);
      }),
    );
    const error = await failureOf(client.listActivities({}));
    expect(error).toMatchObject({ code: Code.InvalidArgument, rawMessage: "no such cursor" });
    expect(error?.findDetails(ErrorInfoSchema)).toEqual([info]);
    expect(error?.metadata.get("ratelimit")).toBe("limit=1");
  });

  it.each([
    [503, "text/html", "<p>no server</p>", Code.Unavailable],
    [502, "application/json", "{}", Code.Unavailable],
    [200, "text/html", "<p>a portal</p>", Code.Unknown],
    [200, "application/proto", "\xff\xff", Code.Unknown],
  ])("that a proxy answers with %d and %s fails", async (status, type, body, code) => {
    const client = await connectTo((_request, response) =>
      response.writeHead(status, { "content-type": type }).end(body, "latin1"),
    );
    expect((await failureOf(client.listActivities({})))?.code).toBe(code);
  });

  it("fails when its deadline has passed, and is canceled at the core", async () => {
    const gone = Promise.withResolvers<void>();
    const client = await connectTo(
      serving((_request, _headers, signal) => {
        signal.addEventListener("abort", () => gone.resolve());
        return gone.promise;
      }),
    );
    const error = await failureOf(client.listActivities({}, { timeoutMs: 1_000 }));
    expect(error?.code).toBe(Code.DeadlineExceeded);
    await gone.promise;
  });

  it.each(["before it begins", "while the core works"])("is canceled %s", async (when) => {
    const began = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const client = await connectTo(
      serving((_request, _headers, signal) => {
        began.resolve();
        signal.addEventListener("abort", () => gone.resolve());
        return gone.promise;
      }),
    );
    const controller = new AbortController();
    if (when === "before it begins") controller.abort();
    const call = failureOf(client.listActivities({}, { signal: controller.signal }));
    if (when !== "before it begins") {
      await began.promise;
      controller.abort();
      await gone.promise;
    }
    expect((await call)?.code).toBe(Code.Canceled);
  });

  it("uses the connection of the call before it", async () => {
    const client = await connectTo(serving(() => undefined));
    let connections = 0;
    server.on("connection", () => connections++);
    for (let call = 0; call < 3; call++) await client.listActivities({});
    await failureOf(client.listActivities({ limit: 1 }));
    expect(connections).toBe(1);
  });
});
