import { NoticeService } from "@activity/proto";
import { createLog } from "@activity/runtime/log";
import { createContextValues, type UnaryRequest } from "@connectrpc/connect";
import { expect, it } from "vitest";
import type { Admission } from "../admission/admission.ts";
import { authenticatedAtKey, type Caller, callerKey } from "../admission/caller.ts";
import { LimiterUnavailableError } from "../admission/redis-admission-store.ts";
import { RedisUrlError } from "../admission/redis-url.ts";
import { createOutageLog } from "../common/outage-log.ts";
import { Permission } from "../service-credential/permission.ts";
import type { ServiceCredentials } from "../service-credential/service-credentials.ts";
import { authenticateAgain, createAuthenticate } from "./authenticate.ts";
import { createFindService, register } from "./registered-service.ts";

const SERVICE = { kind: "service" } as Caller;
const SESSION = { kind: "session" } as Caller;
const API_KEY = { kind: "api_key" } as Caller;

it.each([
  ["a service whose body is late", SERVICE, 2_000, 1],
  ["a session whose body is late", SESSION, 2_000, 1],
  ["a service whose body comes at once", SERVICE, 0, 0],
  ["a session whose body comes at once", SESSION, 0, 0],
  ["an API key, which counts each time", API_KEY, 2_000, 0],
  ["a client address, which counts each time", undefined, 2_000, 0],
])(
  "authenticates a unary call again if its body is late and nothing is counted: %s",
  async (_, caller, ageMs, times) => {
    let count = 0;
    const contextValues = createContextValues()
      .set(callerKey, caller)
      .set(authenticatedAtKey, performance.now() - ageMs);
    const call = authenticateAgain(async () => void count++)(() => Promise.resolve({} as never));
    await call({ stream: false, contextValues } as UnaryRequest);
    expect(count).toBe(times);
  },
);

it.each([
  ["is away", new LimiterUnavailableError("away"), "away"],
  ["refuses the user of REDIS_URL", new RedisUrlError("allow it +eval"), "allow it +eval"],
  [
    "refuses the script",
    Object.assign(new Error("WRONGTYPE no list"), { name: "ReplyError" }),
    "WRONGTYPE",
  ],
])(
  "admits a valid service credential while Redis %s, and logs why it is not counted",
  async (_, error, reason) => {
    const logged: string[] = [];
    const admission = { admit: () => Promise.reject(error) } as Partial<Admission> as Admission;
    const permissions = new Set([Permission.NoticeRead]);
    const credentials = {
      find: async (_text, count) => {
        await count();
        return { name: "site", permissions, accountId: undefined };
      },
    } as Partial<ServiceCredentials> as ServiceCredentials;
    const notices = register(NoticeService, {} as never, { access: Permission.NoticeRead });
    const contextValues = createContextValues();
    const authenticate = createAuthenticate(
      ...([admission, credentials, createFindService([notices])] as const),
      createOutageLog(createLog((line) => void logged.push(line))),
    );
    const { listNotices: method } = NoticeService.method;
    const header = new Headers({ authorization: "Bearer service" });
    await authenticate({ contextValues, header, method, service: NoticeService } as never);
    expect(contextValues.get(callerKey)).toMatchObject({ kind: "service", name: "site" });
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ level: "warn", reason }]);
  },
);
