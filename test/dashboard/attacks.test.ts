import http2 from "node:http2";
import { connect } from "node:net";
import * as proto from "@activity/proto";
import { ApiKeyService, EndpointService, SessionScope, SessionService } from "@activity/proto";
import { Permission } from "@activity/server";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { beforeAll, describe, expect, it } from "vitest";
import {
  createAccount,
  createEndpoint,
  createPaidDonation,
  createReader,
  unique,
} from "../harness/builders.ts";
import { failureOf, METHODS, nameOf } from "../harness/methods.ts";
import { useStarted } from "../harness/use-started.ts";
import { type Browser, EVERYTHING, PAGE, startDashboard } from "./harness-dashboard.ts";

/** The services of the dashboard. The first scope may read the service, the second may also change it. */
const PARTS = [
  [ApiKeyService, SessionScope.KEYS_READ, SessionScope.KEYS_WRITE],
  [EndpointService, SessionScope.ENDPOINTS_READ, SessionScope.ENDPOINTS_WRITE],
  [proto.DeliveryService, SessionScope.DELIVERIES_READ, SessionScope.DELIVERIES_WRITE],
  [proto.ActivityService, SessionScope.ACTIVITY_READ, undefined],
] as const;
const { exchangeCode, getSession, createSessionLink } = SessionService.method;
const { createApiKey, listApiKeys, revokeApiKey } = ApiKeyService.method;

const DENIED = { status: 403, code: "permission_denied" };
const ENDED = { status: 401, code: "session_ended" };
const SCRIPT_PATH = "/assets/app-0a1b2c3d.js";
const pathOf = ({ parent, name }: DescMethod) => `/${parent.typeName}/${name}`;

const isRead = ({ idempotency }: DescMethod) =>
  idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;

const TABLES = [
  ...["account", "api_key", "endpoint", "webhook_event", "delivery", "delivery_attempt"],
  ...["outbox_entry", "activity", "dashboard_session"],
];
/** Every call of these services with its scopes. */
const CALLS = PARTS.flatMap(([service, read, write]) =>
  service.methods.map((method) => [nameOf(method), method as DescMethod, read, write] as const),
);

/** An account with a key, an endpoint, a delivery and a donation, and their ids. */
type Stored = Awaited<ReturnType<typeof store>>;

const dashboard = useStarted(startDashboard);
let own: Stored;
let other: Stored;
beforeAll(async () => {
  [own, other] = [await store(), await store()];
});

async function store() {
  const { stack } = dashboard;
  const { accountId, apiKey, apiKeyId } = await createReader(stack);
  // Resets the limit of new API keys, which would refuse every further one.
  await stack.database.query("UPDATE account SET api_key_created_at = NULL");
  const url = `https://example.com/${unique("hook")}`;
  const { endpointId } = await createEndpoint(stack, accountId, url);
  const donorName = unique("donor");
  await createPaidDonation(stack, accountId, { donorName });
  const { deliveryId } = await stack.client(EndpointService).sendTest({ accountId, endpointId });
  // Marks the delivery as failed, so that a bulk retry includes it.
  await stack.database.query("UPDATE delivery SET state = ?, last_outcome = ? WHERE id = ?", [
    ...[proto.DeliveryState.FAILED, proto.AttemptOutcome.REJECTED, deliveryId],
  ]);
  const words = [accountId, apiKeyId, endpointId, deliveryId, url, donorName];
  return { accountId, apiKey, apiKeyId, endpointId, deliveryId, words };
}

/** Returns a valid request that names an account and its objects, with only the fields of `method`. */
function naming(method: DescMethod, { accountId, apiKeyId, endpointId, deliveryId }: Stored) {
  const fields = {
    ...{ accountId, apiKeyId, endpointId, deliveryId },
    ...{ name: "taken over", validityDays: 30, url: "https://example.com/taken-over" },
    ...{ kinds: { kinds: [1] }, kind: 1, pageSize: 10 },
    ...{ since: { seconds: 1n, nanos: 0 }, until: { seconds: 4_000_000_000n, nanos: 0 } },
  };
  const known = method.input.fields.map(({ localName }) => localName);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => known.includes(name)));
}

const call = (browser: Browser, method: DescMethod, message: object, headers = {}) =>
  browser.call(method, message as never, headers);

/** Returns everything that is stored of an account. */
async function rowsOf(accountId: string): Promise<string> {
  const { database } = dashboard.stack;
  const owner = "account_no = (SELECT account_no FROM account WHERE id = ?)";
  const rows = TABLES.map((table) =>
    database.query(`SELECT * FROM ${table} WHERE ${owner}`, [accountId]),
  );
  return JSON.stringify(await Promise.all(rows));
}

describe("ADR 0038: a session that names another account and its objects", () => {
  it.each(CALLS)("%s: reads and changes nothing of the other account", async (_, method) => {
    const browser = await dashboard.signIn(own.accountId);
    const before = await rowsOf(other.accountId);
    const { status, text } = await call(browser, method, naming(method, other));
    expect([200, 404]).toContain(status);
    expect(await rowsOf(other.accountId)).toBe(before);
    for (const word of other.words) expect(text).not.toContain(word);
  });

  it("gets the data of its own account", async () => {
    const browser = await dashboard.signIn(own.accountId);
    for (const accountId of [other.accountId, "", "no id"]) {
      const feed = await call(browser, proto.ActivityService.method.listActivities, { accountId });
      expect(feed.text).toContain(own.words.at(-1));
      const keys = await call(browser, listApiKeys, { accountId });
      expect(keys.text).toContain(own.apiKeyId);
    }
  });
});

it.each(CALLS)(
  "ADR 0038: a session may call what its scopes say: %s",
  async (_, method, read, write) => {
    const needed: readonly unknown[] = isRead(method) ? [read, write] : [write];
    const own = await store();
    const sessions = await Promise.all(
      EVERYTHING.map(async (scope) => {
        return { scope, browser: await dashboard.signIn(own.accountId, [scope]) };
      }),
    );
    /**
     * Makes the call once with each scope that it needs, or with each that it does not need. Returns the scopes and
     * error codes.
     */
    const callWith = (isNeeded: boolean) =>
      Promise.all(
        sessions
          .filter(({ scope }) => needed.includes(scope) === isNeeded)
          .map(async ({ scope, browser }) => {
            const { code } = await call(browser, method, naming(method, own));
            return [scope, code] as const;
          }),
      );
    const before = await rowsOf(own.accountId);
    for (const [scope, code] of await callWith(false)) {
      expect([scope, code]).toEqual([scope, "permission_denied"]);
    }
    expect(await rowsOf(own.accountId)).toBe(before);
    for (const [, code] of await callWith(true)) {
      expect(["permission_denied", "invalid_parameter"]).not.toContain(code);
    }
    if (isRead(method)) expect(await rowsOf(own.accountId)).toBe(before);
  },
);

describe("ADR 0038: a call that the dashboard's own page did not make", () => {
  it.each([
    ["has no origin", { origin: "" }],
    ["has the origin of another site", { origin: "https://attacker.example" }],
    ["has the origin of another port", { origin: "http://localhost:1" }],
    ["has the origin of a subdomain", { origin: "http://x.localhost" }],
    ["has the origin null, as sandboxed frames do", { origin: "null" }],
    ["comes from another site", { "sec-fetch-site": "cross-site" }],
    ["comes from another subdomain", { "sec-fetch-site": "same-site" }],
    ["comes from a typed address or a bookmark", { "sec-fetch-site": "none" }],
    ["lacks the protocol's header, as forms do", { "connect-protocol-version": "" }],
    ["has another version of the protocol", { "connect-protocol-version": "2" }],
  ] as const)("is refused when it %s", async (_, headers) => {
    const browser = await dashboard.signIn(own.accountId);
    const { apiKeyId } = own;
    expect(await browser.call(revokeApiKey, { apiKeyId }, headers)).toMatchObject(DENIED);
    const code = await dashboard.code(own.accountId);
    const stranger = dashboard.browser();
    expect(await stranger.call(exchangeCode, { code }, headers)).toMatchObject(DENIED);
    // The refused call has not used up the code.
    expect((await stranger.call(exchangeCode, { code })).status).toBe(200);
    const keys = await browser.call(listApiKeys);
    const active = expect.objectContaining({ id: apiKeyId, active: true });
    expect(JSON.parse(keys.text).apiKeys).toContainEqual(active);
  });

  it("is accepted from an old browser, which sends no Sec-Fetch-Site", async () => {
    const browser = await dashboard.signIn(own.accountId);
    expect((await browser.call(getSession, {}, { "sec-fetch-site": "" })).status).toBe(200);
  });

  it("is refused as any method but POST, in gRPC, in gRPC-Web and from a form", async () => {
    const { cookie = "" } = await dashboard.signIn(own.accountId);
    const headers = { cookie, origin: dashboard.origin, "connect-protocol-version": "1" };
    const path = `${pathOf(listApiKeys)}?connect=v1&encoding=json&message=%7B%7D`;
    // Links and images send GET, so no call may accept it.
    for (const method of ["GET", "HEAD"]) {
      const answer = await dashboard.request(method, path, headers);
      expect(answer.status).toBe(404);
      expect(answer.text).not.toContain(own.apiKeyId);
    }
    for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const answer = await dashboard.request(method, path, headers);
      expect([answer.status, answer.headers.allow]).toEqual([405, "GET, HEAD, POST"]);
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    }
    for (const type of [
      ...["application/grpc", "application/grpc-web+proto"],
      ...["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"],
    ]) {
      const sent = { ...headers, "content-type": type };
      const answer = await dashboard.request("POST", pathOf(getSession), sent, "{}");
      expect(answer.status).toBe(404);
    }
  });
});

describe("ADR 0037: at the browsers' port, a body", () => {
  const headers = () => ({ origin: dashboard.origin, "connect-protocol-version": "1" });

  it.each([
    ["4 KiB with a code, which needs no session", exchangeCode, 4096],
    ["32 KiB in any other call", EndpointService.method.createEndpoint, 32_768],
  ])("may have %s", async (_, method, limit) => {
    const { cookie = "" } = await dashboard.signIn(own.accountId);
    const sent = { ...headers(), cookie, "content-type": "application/json" };
    const statusOf = async (length: number) =>
      (await dashboard.request("POST", pathOf(method), sent, "{}".padEnd(length))).status;
    expect([await statusOf(limit), await statusOf(limit + 1)]).toEqual([400, 429]);
  });

  it("comes over HTTP/1.1 only: two connections of HTTP/2 are closed with it unread", async () => {
    const type = { "content-type": "application/json" };
    const call = { ":method": "POST", ":path": pathOf(exchangeCode), ...type };
    const body = Buffer.alloc(1024 * 1024 - 1);
    const sent = await Promise.all(
      [0, 1].map(async () => {
        const socket = connect(dashboard.port, "127.0.0.1");
        const session = http2.connect("http://page", { createConnection: () => socket });
        session.on("error", () => {});
        for (let count = 0; count < 100; count++) {
          const stream = session.request({ ...call, ...headers() });
          stream.on("error", () => {}).resume();
          stream.write(body);
        }
        await new Promise((resolve) => session.once("close", resolve));
        return socket.bytesWritten;
      }),
    );
    // A client may send the first window of HTTP/2 before any answer, and no more.
    for (const bytes of sent) expect(bytes).toBeLessThan(128 * 1024);
  });
});

describe("ADR 0038: each port accepts only its own callers:", () => {
  const sessionCookie = (text: string) => ({ cookie: `__Host-session=${text}` });
  const asCredential = (text: string) => ({
    ...{ ...sessionCookie(text), authorization: `Bearer ${text}`, "x-service-credential": text },
  });
  const permissions = Object.values(Permission);

  it.each<[string, () => object | Promise<object>]>([
    ["no cookie", () => ({})],
    ["a made-up session", () => sessionCookie("0".repeat(64))],
    ["a session of another form", () => sessionCookie("G".repeat(64))],
    [
      "a service's credential",
      async () => asCredential(await dashboard.stack.credential(...permissions)),
    ],
    ["an API key", () => asCredential(own.apiKey)],
  ])("the browsers' port answers session_ended to a client with %s", async (_, present) => {
    const headers = await present();
    for (const [, method] of CALLS) {
      const answer = await call(dashboard.browser(), method, naming(method, own), headers);
      expect(answer).toMatchObject(ENDED);
    }
  });

  it("the core's port refuses a session, as a cookie and as a bearer token", async () => {
    const { cookie = "" } = await dashboard.signIn(own.accountId);
    const [, text = ""] = cookie.split("=");
    for (const shown of [{ cookie }, { cookie, authorization: `Bearer ${text}` }]) {
      for (const method of METHODS) {
        // Leaves out AdmitClient, which accepts clients without a credential and counts them.
        if (method.methodKind !== "unary" || method.name === "AdmitClient") continue;
        const failure = await failureOf(dashboard.stack.client, method, [], shown);
        expect([Code.Unauthenticated, Code.PermissionDenied]).toContain(failure?.code);
      }
    }
  });

  it("the core's port refuses the calls of browsers, even with a credential that has every permission", async () => {
    const code = await dashboard.code(own.accountId);
    for (const method of SessionService.methods) {
      if (method === createSessionLink) continue;
      const failure = await failureOf(dashboard.stack.client, method, [{ code }]);
      expect(failure?.code).toBe(Code.PermissionDenied);
    }
    expect((await dashboard.browser().call(exchangeCode, { code })).status).toBe(200);
  });

  it("the browsers' port creates no link, and has no services but the dashboard's", async () => {
    const { accountId } = own;
    const browser = await dashboard.signIn(accountId);
    const link = { accountId, scopes: [...EVERYTHING] };
    expect(await browser.call(createSessionLink, link)).toMatchObject(DENIED);
    const ours: readonly DescService[] = [
      ...[SessionService, proto.NoticeService],
      ...PARTS.map(([service]) => service),
    ];
    for (const method of METHODS.filter(({ parent }) => !ours.includes(parent))) {
      expect((await call(browser, method, {})).status, nameOf(method)).toBe(404);
    }
    for (const path of ["grpc.health.v1.Health/Check", "grpc.reflection.v1.ServerReflection/x"]) {
      expect((await dashboard.request("POST", `/${path}`)).status).toBe(404);
    }
  });
});

describe("ADR 0038: a client address that guesses is limited:", () => {
  const from = (address: string) => ({ "x-forwarded-for": address });

  it("after 300 made-up sessions, the core looks up no more of them", async () => {
    const known = await dashboard.signIn(own.accountId);
    const fresh = await dashboard.signIn(own.accountId);
    const browser = dashboard.browser();
    const address = from("203.0.113.7");
    await known.call(getSession);
    for (let count = 0; count < 300; count++) {
      browser.cookie = `__Host-session=${count.toString(16).padStart(64, "0")}`;
      expect((await browser.call(getSession, {}, address)).status).toBe(401);
    }
    const over = await browser.call(getSession, {}, address);
    expect(over).toMatchObject({ status: 503, code: "temporarily_unavailable" });
    // Existing sessions continue. Clients at other addresses are not limited.
    expect((await known.call(getSession, {}, address)).status).toBe(200);
    expect((await fresh.call(getSession)).status).toBe(200);
  });

  it("after 300 codes, the core refuses a valid one too", async () => {
    const browser = dashboard.browser();
    const address = from("203.0.113.8");
    for (let count = 0; count < 300; count++) {
      const { code } = await browser.call(exchangeCode, { code: `${count}` }, address);
      expect(code).toBe("session_link_used_up");
    }
    const code = await dashboard.code(own.accountId);
    expect(await browser.call(exchangeCode, { code }, address)).toMatchObject({
      status: 429,
      code: "rate_limit_exceeded",
    });
    expect((await browser.call(exchangeCode, { code })).status).toBe(200);
  });
});

describe("ADR 0038: the page", () => {
  const SECURITY = {
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };

  it("has its security headers in every answer: no frames, no other hosts, no referrer", async () => {
    const browser = await dashboard.signIn(own.accountId);
    const files = [
      await dashboard.request("GET", "/"),
      await dashboard.request("GET", SCRIPT_PATH),
      await dashboard.request("GET", "/no.file"),
      await dashboard.request("PUT", "/"),
    ];
    const calls = [
      await dashboard.request("POST", "/nowhere"),
      await dashboard.request("POST", pathOf(getSession)),
      await browser.call(getSession),
      await dashboard.browser().call(getSession),
    ];
    for (const { headers } of [...files, ...calls]) {
      expect(headers).toMatchObject(SECURITY);
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
      expect(headers["strict-transport-security"]).toBeUndefined();
    }
    for (const { headers } of calls) expect(headers["cache-control"]).toBe("no-store");
  });

  it("has Strict-Transport-Security at an https address, and is embedded by the named sites only", async () => {
    const embedded = await startDashboard({
      DASHBOARD_URL: "https://dash.example.com",
      DASHBOARD_FRAME_ANCESTORS: "https://www.example.com,https://example.org",
    });
    const { headers } = await embedded.request("GET", "/");
    expect(headers["strict-transport-security"]).toBe("max-age=31536000");
    expect(headers["content-security-policy"]).toContain(
      "; frame-ancestors https://www.example.com https://example.org",
    );
    const browser = await embedded.signIn(await createAccount(embedded.stack));
    // Browsers also send a cookie that the dashboard set before it was embedded.
    const cookie = `__Host-session=${"0".repeat(64)}; ${browser.cookie}`;
    expect((await browser.call(getSession, {}, { cookie })).status).toBe(200);
    expect((await browser.call(SessionService.method.signOut)).headers["set-cookie"]).toEqual([
      "__Host-session-embedded=; Path=/; HttpOnly; Secure; SameSite=None; Partitioned; Max-Age=0",
    ]);
    await embedded.stop();
  });

  it("is served at each of its paths and revalidated; browsers cache its assets for a year", async () => {
    for (const path of ["/", "/keys", "/endpoints/0123456789abcde", "/deliveries?state=failed"]) {
      const answer = await dashboard.request("GET", path);
      expect([answer.status, answer.text]).toEqual([200, PAGE.index]);
      expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(answer.headers["cache-control"]).toBe("no-cache");
    }
    const { headers, text } = await dashboard.request("GET", SCRIPT_PATH);
    expect(text).toBe(PAGE.script);
    expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  });

  it.each([
    ["br", "gzip, deflate, br, zstd"],
    ["gzip", "gzip;q=1.0, deflate"],
    [undefined, "deflate"],
  ])("is encoded with %s for a client that accepts %s", async (encoding, accepted) => {
    const { headers, bytes } = await dashboard.request("GET", SCRIPT_PATH, {
      "accept-encoding": accepted,
    });
    expect(headers["content-encoding"]).toBe(encoding);
    expect(headers.vary).toBe("accept-encoding");
    expect(bytes.length).toBe(Number(headers["content-length"]));
    expect(bytes.length < PAGE.script.length).toBe(encoding !== undefined);
  });

  it.each([
    "/assets/../../package.json",
    "/%2e%2e/%2e%2e/package.json",
    "//etc/passwd.txt",
    "/assets/app-0a1b2c3d.js.map",
    "/INDEX.HTML",
    "/constructor.name",
  ])("has no file %s", async (path) => {
    const answer = await dashboard.request("GET", path);
    expect([answer.status, answer.text]).toEqual([404, "The dashboard has no such file.\n"]);
  });

  it("says how to build it when it is not built", async () => {
    const bare = await startDashboard({ DASHBOARD_FILES: "/no/such/folder" });
    const answer = await bare.request("GET", "/keys");
    expect(answer.status).toBe(503);
    expect(answer.text).toMatch(
      /^The dashboard has no page: run `npm run build .* or set DASHBOARD_FILES /,
    );
    expect(bare.stack.log.join("")).toContain("the dashboard has no page");
    await bare.stop();
  });
});

it("ADR 0038: the log holds no code, session, key or secret of any call", async () => {
  const code = await dashboard.code(own.accountId);
  const browser = dashboard.browser();
  await browser.call(exchangeCode, { code });
  const [, session = ""] = browser.cookie?.split("=") ?? [];
  await browser.call(exchangeCode, { code });
  await dashboard.stack.database.query("UPDATE account SET api_key_created_at = NULL");
  const key = { name: "hidden name", validityDays: 30 };
  const { secret: apiKey } = JSON.parse((await browser.call(createApiKey, key)).text);
  const { endpointId } = own;
  const rotated = await browser.call(EndpointService.method.rotateSecret, { endpointId });
  const { secret } = JSON.parse(rotated.text);
  for (const [, method] of CALLS) {
    await call(browser, method, { ...naming(method, own), apiKeyId: session });
    await call(browser, method, naming(method, own), { "x-request-id": session.slice(0, 40) });
  }
  const log = dashboard.stack.log.join("");
  expect(apiKey).toMatch(/^act_live_/);
  expect(secret).toMatch(/^whsec_/);
  for (const hidden of [code, session, session.slice(0, 40), apiKey, secret, "hidden name"]) {
    expect(log).not.toContain(hidden);
  }
  expect(log).toContain("SessionService/ExchangeCode");
});
