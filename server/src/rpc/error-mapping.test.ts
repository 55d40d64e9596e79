import { AdmissionService } from "@activity/proto";
import { createLog } from "@activity/runtime/log";
import { Code, createClient, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { createErrorMapping } from "./error-mapping.ts";

/** Calls a service that fails with `error`. Returns the code of the failure and the log. */
async function failWith(error: unknown) {
  const logged: string[] = [];
  const interceptors = [createErrorMapping(createLog((line) => void logged.push(line)))];
  const transport = createRouterTransport(
    ({ service }) => {
      service(AdmissionService, { admitClient: () => Promise.reject(error) });
    },
    { router: { interceptors } },
  );
  const failure = await createClient(AdmissionService, transport)
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

  it("is logged when its error is unexpected", async () => {
    const { code, logged } = await failWith(new TypeError("x"));
    expect(code).toBe(Code.Internal);
    expect(logged).toEqual([expect.stringContaining("call failed")]);
  });
});
