import { EventEmitter, on } from "node:events";
import {
  ActivityService,
  AdmissionService,
  ErrorInfoSchema,
  FeedChangeService,
  GetMeResponseSchema,
  ListActivitiesResponseSchema,
  MeService,
} from "@activity/proto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  Code,
  ConnectError,
  createRouterTransport,
  type HandlerContext,
  type Transport,
} from "@connectrpc/connect";

/** One call that the core received. */
export type CoreCall = {
  readonly method: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
};

/** A core in memory. It notes each call, and gives the test's answers. */
export type RouterCore = {
  readonly transport: Transport;
  readonly calls: CoreCall[];
  /** The answer of ListActivities. */
  page: MessageInitShape<typeof ListActivitiesResponseSchema>;
  /** Streams a change of an account's feed to the gateway. */
  notify(accountId: string, version: bigint): void;
  /** Runs before each answer. The call fails if `before` throws. */
  before: (call: CoreCall) => void | Promise<void>;
};

const textOf = (data: string) =>
  Buffer.from(`{"data":[${data}],"pagination":{"has_more":false,"next_cursor":null}}`);
/** A page without records. */
export const EMPTY_PAGE = { json: textOf(""), isEmpty: true };
/** A page with one record. The gateway passes its bytes on without reading them. */
export const pageWith = (message: string) => ({ json: textOf(`{"message":"${message}"}`) });

/** Creates a core that admits every request and has an empty feed. */
export function createRouterCore(): RouterCore {
  const calls: CoreCall[] = [];
  const changes = new EventEmitter();
  const note = async (context: HandlerContext) => {
    const { method, requestHeader: headers, signal } = context;
    const call = { method: method.name, headers, signal };
    calls.push(call);
    // The core shows no limit for AdmitClient, nor for a request that it has already counted.
    if (method.name !== "AdmitClient" && !headers.has("x-request-counted")) {
      context.responseHeader.set("ratelimit", '"account";r=119;t=60');
      context.responseHeader.set("ratelimit-policy", '"account";q=120;w=60');
      context.responseHeader.set("x-inner", "never copied");
    }
    await core.before(call);
  };
  const transport = createRouterTransport(({ service }) => {
    service(ActivityService, {
      async listActivities(_request, context) {
        await note(context);
        return create(ListActivitiesResponseSchema, core.page);
      },
    });
    service(FeedChangeService, {
      async *watchFeeds(_request, { signal }) {
        yield {};
        for await (const [feed] of on(changes, "feed", { signal })) yield { feeds: [feed] };
      },
    });
    service(MeService, {
      async getMe(_request, context) {
        await note(context);
        const key = { prefix: "act_live_01234567", expiresAt: { seconds: 0n, nanos: 1000 } };
        return create(GetMeResponseSchema, {
          me: { id: "a", username: "ünï", displayName: "💜", scopes: ["activity:read"], key },
        });
      },
    });
    service(AdmissionService, {
      async admitClient(_request, context) {
        await note(context);
        return {};
      },
      async admitApiKey(_request, context) {
        await note(context);
        return {};
      },
    });
  });
  const notify: RouterCore["notify"] = (accountId, version) =>
    void changes.emit("feed", { accountId, version });
  const core: RouterCore = { transport, calls, page: EMPTY_PAGE, notify, before: () => undefined };
  return core;
}

/** Creates a failure as the core sends it. */
export function coreError(code: Code, info: string, message = "inner text"): ConnectError {
  const headers = { ratelimit: '"account";r=0;t=60', "x-inner": "never copied" };
  return new ConnectError(message, code, headers, [
    { desc: ErrorInfoSchema, value: { code: info } },
  ]);
}

/** Creates the failure by which the core refuses a client for `refusedForMs` milliseconds. */
export function clientRefusal(refusedForMs: number): ConnectError {
  const clientRefusedFor = durationFromMs(refusedForMs);
  return new ConnectError("inner text", Code.ResourceExhausted, undefined, [
    { desc: ErrorInfoSchema, value: { code: "rate_limit_exceeded", clientRefusedFor } },
  ]);
}
