import { FeedChangeService, ImportService, MeService } from "@activity/proto";
import { createLog } from "@activity/runtime/log";
import { type Metrics, NO_METRICS } from "@activity/runtime/metrics";
import { create } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createClient,
  createContextValues,
  createRouterTransport,
  type ServiceImpl,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import { createAsyncIterable } from "@connectrpc/connect/protocol";
import { describe, expect, it } from "vitest";
import { QUIET } from "../../../test/harness/quiet.ts";
import { OverloadedError } from "../common/overloaded-error.ts";
import { Access } from "./access.ts";
import { createErrorMapping } from "./error-mapping.ts";
import { createLocalTransport } from "./local-transport.ts";
import { register } from "./registered-service.ts";
import { createRequestLog } from "./request-log.ts";

/** Creates a request log with its own clock. `counted` and `lines` hold what it wrote. */
function createObserved() {
  const counted: { seconds: number; code: string }[] = [];
  const lines: object[] = [];
  const metrics: Metrics = {
    ...NO_METRICS,
    histogram:
      () =>
      (seconds, _call, code = "") =>
        void counted.push({ seconds, code }),
  };
  const clock = { ms: 0 };
  const log = createLog((line) => void lines.push(JSON.parse(line)));
  return { requestLog: createRequestLog(log, metrics, () => clock.ms), counted, lines, clock };
}

describe("a stream is counted and logged at its end, with its whole duration:", () => {
  const rows = { step: { case: "rows" as const, value: { rows: [] } } };

  /** Imports two batches. The core needs two seconds for each. */
  async function runImport(fate: "both are stored" | "the second fails") {
    const { requestLog, counted, lines, clock } = createObserved();
    const importDonations: ServiceImpl<typeof ImportService>["importDonations"] = async function* (
      requests,
    ) {
      let received = 0n;
      for await (const _ of requests) {
        clock.ms += 2_000;
        if (++received === 2n && fate === "the second fails") throw new OverloadedError();
        yield { received };
      }
    };
    const transport = createRouterTransport(
      (router) => void router.service(ImportService, { importDonations }),
      { router: { interceptors: [requestLog, createErrorMapping(QUIET)] } },
    );
    const client = createClient(ImportService, transport);
    async function* batches() {
      yield rows;
      expect(counted).toEqual([]);
      yield rows;
    }
    const run = async () => {
      for await (const _ of client.importDonations(batches()));
    };
    await run().catch((error) => expect(error).toBeInstanceOf(ConnectError));
    return { counted, lines };
  }

  it.each([
    ["both are stored", "ok"],
    ["the second fails", "Unavailable"],
  ] as const)("of two batches %s", async (fate, code) => {
    const { counted, lines } = await runImport(fate);
    expect(counted).toEqual([{ seconds: 4, code }]);
    expect(lines).toMatchObject([{ message: "call", code, ms: 4_000 }]);
  });

  it("its reader leaves early", async () => {
    const { requestLog, counted, clock } = createObserved();
    async function* watchFeeds() {
      for (;;) {
        clock.ms += 60_000;
        yield {};
      }
    }
    const services = [register(FeedChangeService, { watchFeeds }, { access: Access.Open })];
    const transport = createLocalTransport(services, [requestLog]);
    const leaving = new AbortController();
    const { message } = await transport.stream(
      ...([FeedChangeService.method.watchFeeds, leaving.signal, undefined, undefined] as const),
      createAsyncIterable([{}]),
    );
    for await (const _ of message) {
      leaving.abort();
      break;
    }
    expect(counted).toEqual([{ seconds: 60, code: "Canceled" }]);
  });
});

describe("a call that ends after its caller has gone", () => {
  const { signal } = new AbortController();
  const CONNECT = { "connect-timeout-ms": "5000" };
  const GRPC = { "grpc-timeout": "5S" };
  const method = MeService.method.getMe;
  const requestOf = (given: AbortSignal, header: Record<string, string>): UnaryRequest => ({
    ...{ stream: false, service: MeService, method, message: create(method.input) },
    ...{ signal: given, header: new Headers(header), contextValues: createContextValues() },
    ...{ requestMethod: "POST", url: "" },
  });
  const resetWith = (code: Code) => AbortSignal.abort(new ConnectError("reset", code));

  it.each<[code: string, what: string, AbortSignal, Record<string, string>, seconds: number]>([
    ["ok", "the caller waits", signal, CONNECT, 4],
    ["DeadlineExceeded", "the core's timer ended", resetWith(Code.DeadlineExceeded), {}, 5],
    ["DeadlineExceeded", "the caller left at its deadline", resetWith(Code.Canceled), CONNECT, 10],
    ["DeadlineExceeded", "the caller reset it at its deadline", resetWith(Code.Internal), GRPC, 10],
    ["Canceled", "the caller reset it", resetWith(Code.Internal), GRPC, 1],
    ["Canceled", "the caller had no deadline", AbortSignal.abort(), {}, 10],
    ["Canceled", "its connection broke", AbortSignal.abort(new Error("write EPIPE")), {}, 10],
  ])("is counted as %s if %s", async (code, _, signal, header, seconds) => {
    const { requestLog, counted, clock } = createObserved();
    const answer = async () => {
      clock.ms += seconds * 1_000;
      return { stream: false } as UnaryResponse;
    };
    await requestLog(answer)(requestOf(signal, header));
    expect(counted).toEqual([{ seconds, code }]);
  });

  it.each([
    ["DeadlineExceeded", Code.Canceled, 10],
    ["Canceled", Code.Canceled, 1],
    ["NotFound", Code.NotFound, 10],
  ])(
    "is counted as %s if it fails with code %i after %i seconds",
    async (code, failure, seconds) => {
      const { requestLog, counted, clock } = createObserved();
      const fail = async () => {
        clock.ms += seconds * 1_000;
        throw new ConnectError("x", failure);
      };
      await expect(
        requestLog(fail)(requestOf(resetWith(Code.Canceled), CONNECT)),
      ).rejects.toThrow();
      expect(counted).toEqual([{ seconds, code }]);
    },
  );
});
