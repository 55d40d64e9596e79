import { AdmissionService, EndpointService } from "@activity/proto";
import { createLog } from "@activity/runtime/log";
import { Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { RedisUrlError } from "../admission/redis-url.ts";
import { OverloadedError } from "../common/overloaded-error.ts";
import { DatabaseTimeoutError } from "../database/deadline.ts";
import { createErrorMapping } from "./error-mapping.ts";

/** Serves calls that fail with `error`. Writes the log to `logged`. */
function failingWith(error: unknown, logged: string[] = []) {
  const interceptors = [createErrorMapping(createLog((line) => void logged.push(line)))];
  const fail = () => Promise.reject(error);
  return createRouterTransport(
    ({ service }) => {
      service(AdmissionService, { admitClient: fail });
      service(EndpointService, { createEndpoint: fail, listEndpoints: fail, deleteEndpoint: fail });
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

  it("says that it may have succeeded if a repeated call would create another object", async () => {
    const failing = (error: Error) => createClient(EndpointService, failingWith(error));
    const late = failing(new DatabaseTimeoutError("late"));
    await expect(late.createEndpoint({})).rejects.toThrow(/may have succeeded/);
    const certain = [
      late.listEndpoints({}),
      late.deleteEndpoint({}),
      failing(new OverloadedError()).createEndpoint({}),
    ];
    for (const call of certain) await expect(call).rejects.toThrow(/try again after 60 seconds\.$/);
  });

  it("is logged when its error is unexpected", async () => {
    const { code, logged } = await failWith(new TypeError("x"));
    expect(code).toBe(Code.Internal);
    expect(logged).toEqual([expect.stringContaining("call failed")]);
  });

  it("is logged with its advice when REDIS_URL is wrong", async () => {
    const { logged } = await failWith(new RedisUrlError("begin it with redis-cluster://"));
    const [line = ""] = logged;
    expect(JSON.parse(line)).toMatchObject({ advice: "begin it with redis-cluster://" });
  });
});
