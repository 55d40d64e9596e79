import {
  AdmissionService,
  EndpointService,
  FeedChangeService,
  SessionService,
} from "@activity/proto";
import { createLog } from "@activity/runtime/log";
import { Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { describe, expect, it } from "vitest";
import { LimiterUnavailableError } from "../admission/redis-admission-store.ts";
import { RedisUrlError } from "../admission/redis-url.ts";
import { OverloadedError } from "../common/overloaded-error.ts";
import { DatabaseTimeoutError } from "../database/deadline.ts";
import { Access } from "./access.ts";
import { createErrorMapping } from "./error-mapping.ts";
import { createLocalTransport } from "./local-transport.ts";
import { register } from "./registered-service.ts";

/** Serves calls that fail with `error`. Adds the lines of the log to `logged`. */
function failingWith(error: unknown, logged: string[] = []) {
  const interceptors = [createErrorMapping(createLog((line) => void logged.push(line)))];
  const fail = () => Promise.reject(error);
  return createRouterTransport(
    ({ service }) => {
      service(AdmissionService, { admitClient: fail });
      service(EndpointService, {
        ...{ createEndpoint: fail, listEndpoints: fail, deleteEndpoint: fail },
        rotateSecret: fail,
      });
      service(SessionService, { createSessionLink: fail });
    },
    { router: { interceptors } },
  );
}

/** Calls a service that fails with `error`. Returns the code of the failure and the log. */
async function failWith(error: unknown) {
  const logged: string[] = [];
  const failure = await createClient(AdmissionService, failingWith(error, logged))
    .admitClient({})
    .catch((thrown) => thrown);
  return { code: failure.code, logged };
}

describe("a call that failed", () => {
  it("is not logged when its caller went away", async () => {
    const codes = ["ERR_STREAM_DESTROYED", "ERR_STREAM_PREMATURE_CLOSE"];
    const closed = codes.map((code) => Object.assign(new Error("x"), { code }));
    for (const gone of [AbortSignal.abort().reason, ...closed]) {
      expect(await failWith(gone)).toEqual({ code: Code.Canceled, logged: [] });
    }
  });

  it("is not taken for an outage when the answer of its stream cannot be written", async () => {
    const logged: string[] = [];
    const mapping = createErrorMapping(createLog((line) => void logged.push(line)));
    const watchFeeds = async function* () {
      yield {};
    };
    const services = [register(FeedChangeService, { watchFeeds }, { access: Access.Open })];
    const { message } = await createLocalTransport(services, [mapping]).stream(
      ...([FeedChangeService.method.watchFeeds, undefined, undefined, undefined] as const),
      createAsyncIterable([{}]),
    );
    const answers = message[Symbol.asyncIterator]();
    await answers.next();
    const broken = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    await expect(answers.throw?.(broken)).rejects.toMatchObject({ code: Code.Canceled });
    expect(logged).toEqual([]);
  });

  it("says that it may have succeeded if a repeated call would create another object, and where to read what to do", async () => {
    const failing = (error: Error) => createClient(EndpointService, failingWith(error));
    const lateError = new DatabaseTimeoutError("late");
    const late = failing(lateError);
    const sessions = createClient(SessionService, failingWith(lateError));
    const creating = [
      late.createEndpoint({}),
      late.rotateSecret({}),
      sessions.createSessionLink({}),
    ];
    for (const call of creating) {
      await expect(call).rejects.toThrow(/may have succeeded: errors\.md/);
    }
    const certain = [
      late.listEndpoints({}),
      late.deleteEndpoint({}),
      failing(new OverloadedError()).createEndpoint({}),
    ];
    for (const call of certain) await expect(call).rejects.toThrow(/try again after 60 seconds\.$/);
  });

  it("is logged when its error is unexpected, and tells its caller the request id of that line", async () => {
    const logged: string[] = [];
    const failing = createClient(AdmissionService, failingWith(new TypeError("x"), logged));
    const failure = await failing.admitClient({}).catch((thrown) => thrown);
    expect(failure.code).toBe(Code.Internal);
    expect(logged).toEqual([expect.stringContaining("call failed")]);
    const { requestId } = JSON.parse(logged[0] ?? "");
    expect(requestId).toMatch(/^req_/);
    expect(failure.rawMessage).toContain(` ${requestId} `);
  });

  it.each([
    ["database", new DatabaseTimeoutError("It was late."), "It was late."],
    [
      "limiter",
      new LimiterUnavailableError("away", {
        cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
      }),
      "ECONNREFUSED",
    ],
  ])("is logged once, with the reason, while the %s cannot serve", async (part, error, reason) => {
    const logged: string[] = [];
    const client = createClient(AdmissionService, failingWith(error, logged));
    for (let call = 0; call < 3; call++) await client.admitClient({}).catch(() => undefined);
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      {
        ...{ level: "warn", message: `the ${part} could not serve a call`, reason },
        call: "activity.read.v1.AdmissionService/AdmitClient",
      },
    ]);
  });

  it("is not logged when too many calls wait", async () => {
    expect(await failWith(new OverloadedError())).toEqual({ code: Code.Unavailable, logged: [] });
  });

  it("is logged once, with its advice, while REDIS_URL is wrong", async () => {
    const logged: string[] = [];
    const error = new RedisUrlError("begin it with redis-cluster://");
    const client = createClient(AdmissionService, failingWith(error, logged));
    for (let call = 0; call < 3; call++) await client.admitClient({}).catch(() => undefined);
    const lines = logged.map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { message: "call failed", advice: "begin it with redis-cluster://" },
    ]);
  });

  it("is logged at each call when its error is unexpected", async () => {
    const logged: string[] = [];
    const client = createClient(AdmissionService, failingWith(new TypeError("x"), logged));
    for (let call = 0; call < 3; call++) await client.admitClient({}).catch(() => undefined);
    expect(new Set(logged.map((line) => JSON.parse(line).requestId)).size).toBe(3);
  });
});
