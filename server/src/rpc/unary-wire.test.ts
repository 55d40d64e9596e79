import { once } from "node:events";
import {
  Agent,
  type ClientRequest,
  createServer,
  request as openRequest,
  type Server,
} from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import {
  ActivityService,
  ErrorInfoSchema,
  ListActivitiesRequestSchema,
  ListActivitiesResponseSchema,
} from "@activity/proto";
import { create, fromBinary, toBinary, toJsonString } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createContextValues,
  type Interceptor,
  type ServiceImpl,
} from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Access } from "./access.ts";
import { register } from "./registered-service.ts";
import type { Gate } from "./request-gate.ts";
import { createUnaryWire } from "./unary-wire.ts";

const PATH = "/activity.read.v1.ActivityService/ListActivities";
const MAX_BYTES = 4_096;
const info = { desc: ErrorInfoSchema, value: create(ErrorInfoSchema, { code: "invalid_cursor" }) };

/** The behaviours of the service. The `limit` of a call chooses one. */
const Does = { Answer: 1, Refuse: 2, Fail: 3, AnswerLong: 4, Wait: 5 } as const;

/** Called when the signal of a waiting call is aborted, with the reason. */
let onAbort: (reason: unknown) => void = () => undefined;
let onWait = () => {};

const implementation: ServiceImpl<typeof ActivityService> = {
  waitForActivity: () => ({}),
  async listActivities({ limit, cursor }, { responseHeader, signal }) {
    if (limit === Does.Refuse) {
      throw new ConnectError("no such cursor", Code.InvalidArgument, { ratelimit: "x" }, [info]);
    }
    if (limit === Does.Fail) throw new Error("a bug");
    if (limit === Does.Wait) {
      onWait();
      await new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => {
          onAbort(signal.reason);
          reject(signal.reason);
        }),
      );
    }
    responseHeader.set("ratelimit", "limit=1");
    return { etag: `${cursor}`.repeat(limit === Does.AnswerLong ? 2_000 : 1) };
  },
};
/** Called for each call at the gate, with true if its caller had gone away. */
let onGate: (isGone: boolean) => void = () => undefined;

const gate: Gate = async ({ requestHeader, signal }) => {
  onGate(signal.aborted);
  if (requestHeader.get("authorization") === "nobody") {
    throw new ConnectError("who are you?", Code.Unauthenticated);
  }
};
const marks: Interceptor = (next) => async (request) => {
  const response = await next(request);
  response.header.set("mark", request.method.name);
  return response;
};

let ours: Server;
let connects: Server;
beforeAll(async () => {
  const services = [register(ActivityService, implementation, { access: Access.Open })];
  const contextValues = () => createContextValues();
  const answer = createUnaryWire(services, {
    ...{ gate, interceptors: [marks], contextValues },
    readMaxBytes: MAX_BYTES,
  });
  ours = createServer(async (request, response) => {
    if (request.headers["x-wait"]) await once(response, "close");
    if (!answer(request, response)) response.writeHead(418).end();
  });
  connects = createServer(
    connectNodeAdapter({
      ...{ requestGate: gate, interceptors: [marks], readMaxBytes: MAX_BYTES },
      routes: (router) => void router.service(ActivityService, implementation),
    }),
  );
  for (const server of [ours, connects]) await once(server.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  for (const server of [ours, connects]) {
    server.closeAllConnections();
    server.close();
  }
});

type Sent = {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly agent?: Agent;
};

function open(
  server: Server,
  { method = "POST", path = PATH, headers = {}, agent }: Sent,
): ClientRequest {
  const { port } = server.address() as AddressInfo;
  return openRequest({
    ...{ host: "127.0.0.1", port, method, path, agent },
    headers: { "content-type": "application/proto", ...headers },
  });
}

/** Sends a request and returns what a caller can observe of its answer. */
async function ask(server: Server, sent: Sent) {
  const call = open(server, sent);
  call.end(sent.body);
  const [response] = await once(call, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const { statusCode: status, headers } = response;
  const named = ["content-type", "content-encoding", "ratelimit", "mark"].map(
    (name) => headers[name],
  );
  const plain = headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
  return { status, named, hasLength: Number(headers["content-length"]) === body.length, plain };
}

const proto = (limit: number, cursor = "c") =>
  toBinary(ListActivitiesRequestSchema, create(ListActivitiesRequestSchema, { limit, cursor }));
const json = (limit: number) =>
  toJsonString(ListActivitiesRequestSchema, create(ListActivitiesRequestSchema, { limit }));
const JSON_TYPE = { "content-type": "application/json" };
/** A caller that accepts gzip. */
const GZIP = { "accept-encoding": "br;q=0.5, gzip" };

describe("a unary call over HTTP/1.1 is answered as connect-node answers it, ADR 0032:", () => {
  const cases: (Sent & { what: string; status: number })[] = [
    { what: "a message", body: proto(Does.Answer), status: 200 },
    { what: "a message in JSON", headers: JSON_TYPE, body: json(Does.Answer), status: 200 },
    { what: "no message", status: 200 },
    { what: "an unknown field", headers: JSON_TYPE, body: '{"newer":1}', status: 200 },
    { what: "broken JSON", headers: JSON_TYPE, body: '{"limit":', status: 400 },
    { what: "a broken message", body: "\xff\xff", status: 500 },
    { what: "a refusal with details", body: proto(Does.Refuse), status: 400 },
    { what: "a refusal in JSON", headers: JSON_TYPE, body: json(Does.Refuse), status: 400 },
    { what: "a bug", body: proto(Does.Fail), status: 500 },
    { what: "a call that is not authenticated", headers: { authorization: "nobody" }, status: 401 },
    { what: "a bad timeout", headers: { "connect-timeout-ms": "soon" }, status: 400 },
    { what: "a long answer, with gzip", headers: GZIP, body: proto(Does.AnswerLong), status: 200 },
    { what: "a short answer, with gzip", headers: GZIP, body: proto(Does.Answer), status: 200 },
    { what: "a long answer, without gzip", body: proto(Does.AnswerLong), status: 200 },
  ];
  it.each(cases)("$what", async ({ status, ...sent }) => {
    const answered = await ask(ours, sent);
    expect(answered.status).toBe(status);
    expect(answered).toEqual(await ask(connects, sent));
  });

  it("with the service's answer", async () => {
    const { plain } = await ask(ours, { body: proto(Does.Answer, "here") });
    expect(fromBinary(ListActivitiesResponseSchema, plain).etag).toBe("here");
  });
});

describe("a unary call over HTTP/1.1", () => {
  it.each([
    ["has a length", { "content-length": `${MAX_BYTES + 1}` }],
    ["is sent in chunks", { "transfer-encoding": "chunked" }],
  ])(
    "whose message is too long and %s is refused, and its connection stays open",
    async (_, headers) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const body = Buffer.alloc(MAX_BYTES + 1);
      const { status, plain } = await ask(ours, { headers, body, agent });
      expect(status).toBe(429);
      expect(JSON.parse(plain.toString())).toMatchObject({ code: "resource_exhausted" });
      const next = open(ours, { agent });
      next.end();
      await once(next, "response");
      expect(next.reusedSocket).toBe(true);
      agent.destroy();
    },
  );

  it("is refused before its body is sent when it is not authenticated", async () => {
    const call = open(ours, {
      headers: { authorization: "nobody", "content-length": `${MAX_BYTES}` },
    });
    call.on("error", () => undefined).flushHeaders();
    const [response] = await once(call, "response");
    expect(response.statusCode).toBe(401);
    call.destroy();
  });

  it("ends when its deadline has passed", async () => {
    const headers = { "connect-timeout-ms": "50" };
    const { status, plain } = await ask(ours, { headers, body: proto(Does.Wait) });
    expect(status).toBe(504);
    expect(JSON.parse(plain.toString())).toMatchObject({ code: "deadline_exceeded" });
  });

  it("may have a deadline of months, longer than a timer of Node", async () => {
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    onWait = begun.resolve;
    onAbort = () => ended.resolve("aborted");
    const call = open(ours, { headers: { "connect-timeout-ms": "9999999999" } });
    call.on("error", () => undefined).on("response", () => ended.resolve("answered"));
    call.end(proto(Does.Wait));
    await begun.promise;
    expect(await Promise.race([ended.promise, wait(50, "waits")])).toBe("waits");
    call.destroy();
    // Waits for the end of this call, because the next test must not see its abort.
    await ended.promise;
  });

  it("is canceled when its caller goes away", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    onAbort = resolve;
    const call = open(ours, {});
    onWait = () => setImmediate(() => call.destroy());
    call.on("error", () => undefined).end(proto(Does.Wait));
    expect(ConnectError.from(await promise).code).toBe(Code.Canceled);
  });

  it("is canceled when its caller went away before its turn", async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    onGate = resolve;
    const call = open(ours, { headers: { "x-wait": "1" } });
    call.on("error", () => undefined).end(proto(Does.Wait));
    await once(call, "finish");
    setTimeout(() => call.destroy(), 50);
    expect(await promise).toBe(true);
  });

  it.each<[string, Sent]>([
    ["GET", { method: "GET" }],
    ["a compressed message", { headers: { "content-encoding": "gzip" } }],
    ["gRPC-Web", { headers: { "content-type": "application/grpc-web+proto" } }],
    ["another path", { path: "/nowhere" }],
  ])("leaves %s to connect-node", async (_, sent) => {
    expect((await ask(ours, sent)).status).toBe(418);
  });
});
