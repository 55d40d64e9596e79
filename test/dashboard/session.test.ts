import { createHash } from "node:crypto";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import * as proto from "@activity/proto";
import { Permission } from "@activity/server";
import type { DescMethod } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../proto/src/client-transport.ts";
import { NOW_MICROS } from "../../server/src/database/now.ts";
import { removeExpiredSessions } from "../../server/src/session/session-removal.ts";
import { createAccount } from "../harness/builders.ts";
import { clientsOf } from "../harness/clients.ts";
import { textOf, withProductPool } from "../harness/database.ts";
import { sendHead } from "../harness/http.ts";
import { useStarted } from "../harness/use-started.ts";
import { type Browser, startDashboard } from "./harness-dashboard.ts";

const { listOpenNotices } = proto.NoticeService.method;
const { exchangeCode, getSession, signOut, signOutEverywhere } = proto.SessionService.method;
const SECRET = /^[0-9a-f]{64}$/;

const dashboard = useStarted(startDashboard);
let accountId: string;

const newAccount = async () => {
  accountId = await createAccount(dashboard.stack);
  return accountId;
};
const signInToNew = async () => dashboard.signIn(await newAccount());
const exchange = (code: string) => dashboard.browser().call(exchangeCode, { code });
const ENDED = { status: 401, code: "session_ended" };
const OK = { status: 200 };
const USED_UP = { status: 400, code: "session_link_used_up" };

const sessionIn = async (browser: Browser) =>
  JSON.parse((await browser.call(getSession)).text).session;
const secretIn = ({ cookie = "" }: Browser) => cookie.slice(cookie.indexOf("=") + 1);
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Lets the links or sessions of the account expire now. */
const expire = (table: "session_link" | "dashboard_session") =>
  dashboard.stack.database.query(
    `UPDATE ${table} SET expires_at = ${NOW_MICROS}
     WHERE account_no = (SELECT account_no FROM account WHERE id = ?)`,
    [accountId],
  );

const LATE_SECRET = "e".repeat(64);
/** Makes the first change of an exchange. `query` uses one connection, so later queries are in the same transaction. */
async function beginExchange(code: string): Promise<void> {
  const { database } = dashboard.stack;
  await database.query("START TRANSACTION");
  await database.query(
    "UPDATE session_link SET session_hash = UNHEX(?) WHERE code_hash = UNHEX(?)",
    [sha256(LATE_SECRET), sha256(code)],
  );
}

const CALL_ID = "begun-call";
/** Sends the head of a browser's call. */
const begin = ({ parent, name }: DescMethod, { cookie = "" }: Browser) =>
  sendHead(dashboard.port, `/${parent.typeName}/${name}`, {
    ...{ origin: dashboard.origin, "connect-protocol-version": "1", cookie },
    ...{ "content-type": "application/json", "x-request-id": CALL_ID },
  });

/** Begins to exchange a link that `beginExchange` has locked, and leaves before the core answers. */
async function exchangeAndLeave(code: string, browser: Browser): Promise<void> {
  const late = await begin(exchangeCode, browser);
  late.end(JSON.stringify({ code }));
  await expect.poll(() => dashboard.stack.database.isRunning("UPDATE session_link")).toBe(true);
  const left = once(late, "error");
  late.destroy();
  await left;
  // Sends a later request. Before the core reads it, the core learns that the browser left.
  expect((await dashboard.request("GET", "/")).status).toBe(200);
}

describe("ADR 0038: a link into the dashboard", () => {
  it("ends the session that its browser had", async () => {
    const browser = await signInToNew();
    const before = browser.cookie ?? "";
    const code = await dashboard.code(accountId);
    expect((await browser.call(exchangeCode, { code })).status).toBe(200);
    expect(await browser.call(getSession, {}, { cookie: before })).toMatchObject(ENDED);
    expect(await browser.call(getSession)).toMatchObject(OK);
  });

  it("that was used up does not end the session of a browser that presents it", async () => {
    const browser = await signInToNew();
    const code = await dashboard.code(accountId);
    await dashboard.browser().call(exchangeCode, { code });
    const answer = await browser.call(exchangeCode, { code, replaceSession: true });
    expect(answer).toMatchObject(USED_UP);
    expect(await browser.call(getSession)).toMatchObject(OK);
  });

  it("that another browser used first does not end the session of a browser that presents it", async () => {
    const { database } = dashboard.stack;
    const browser = await signInToNew();
    const code = await dashboard.code(accountId);
    await beginExchange(code);
    const late = browser.call(exchangeCode, { code });
    await expect.poll(() => database.isRunning("UPDATE session_link")).toBe(true);
    await database.query("COMMIT");
    expect(await late).toMatchObject(USED_UP);
    expect(await browser.call(getSession)).toMatchObject(OK);
  });

  it("stays unused, and ends no session, if its browser went away while it was exchanged", async () => {
    const browser = await signInToNew();
    const code = await dashboard.code(accountId);
    await beginExchange(code);
    await exchangeAndLeave(code, browser);
    await dashboard.stack.database.query("ROLLBACK");
    // Waits for the end of this call, because the browser's next call must come after it.
    const ends = (line: string) => line.includes('"call"') && line.includes(CALL_ID);
    await expect.poll(() => dashboard.stack.log.find(ends)).toContain("Canceled");
    expect(await browser.call(getSession)).toMatchObject(OK);
    expect(await exchange(code)).toMatchObject(OK);
  });

  it("that another browser used first is told to the owner, even if its second browser went away", async () => {
    const owner = await signInToNew();
    const code = await dashboard.code(accountId);
    await beginExchange(code);
    await exchangeAndLeave(code, dashboard.browser());
    await dashboard.stack.database.query("COMMIT");
    const noticesNow = async () => (await owner.call(listOpenNotices)).text;
    await expect.poll(noticesNow).toContain("NOTICE_KIND_SESSION_LINK_REUSED");
  });

  it("of another account needs replaceSession, for which the page asks its reader", async () => {
    const browser = await signInToNew();
    const before = browser.cookie ?? "";
    const code = await dashboard.code(await newAccount());
    const asked = { status: 400, code: "session_of_another_account" };
    expect(await browser.call(exchangeCode, { code })).toMatchObject(asked);
    expect(await browser.call(getSession)).toMatchObject(OK);
    expect((await browser.call(exchangeCode, { code, replaceSession: true })).status).toBe(200);
    expect(await browser.call(getSession, {}, { cookie: before })).toMatchObject(ENDED);
  });

  it("carries its code in the fragment, works for five minutes, and outlives a scanner's GET", async () => {
    const before = Date.now();
    const asked = { accountId: await newAccount(), scopes: [proto.SessionScope.KEYS_READ] };
    const link = await dashboard.stack.client(proto.SessionService).createSessionLink(asked);
    const { origin, pathname, search, hash } = new URL(link.url);
    expect([origin, pathname, search]).toEqual([dashboard.origin, "/", ""]);
    const code = hash.slice("#code=".length);
    expect(code).toMatch(SECRET);
    const seconds = Number(link.expiresAt?.seconds) - before / 1000;
    expect(Math.abs(seconds - 300)).toBeLessThan(10);
    for (const method of ["GET", "HEAD"]) {
      expect((await dashboard.request(method, `/?code=${code}`)).status).toBe(200);
    }
    expect(await exchange(code)).toMatchObject(OK);
  });

  it("gives its browser the chosen scopes, and the account's names and limits", async () => {
    const code = await dashboard.code(await newAccount(), [proto.SessionScope.KEYS_READ]);
    const browser = dashboard.browser();
    const { session } = JSON.parse((await browser.call(exchangeCode, { code })).text);
    expect(session).toMatchObject({ accountId, scopes: ["SESSION_SCOPE_KEYS_READ"] });
    expect(session.username).toMatch(/^\w/);
    expect(session.limits).toEqual({
      ...{ activeApiKeys: 10, endpoints: 10, attempts: 8 },
      ...{ apiKeysPerMinute: 1, testsPerMinute: 10, bulkRetriesPerMinute: 1 },
    });
    expect(await sessionIn(browser)).toEqual(session);
  });

  it("is refused alike when it is too old, made up, or no code at all", async () => {
    const old = await dashboard.code(await newAccount());
    await expire("session_link");
    const answers = await Promise.all([old, "0".repeat(64), "x", ""].map(exchange));
    for (const answer of answers) {
      expect(answer).toMatchObject({ ...USED_UP, text: answers[0]?.text });
      expect(answer.headers["set-cookie"]).toBeUndefined();
    }
  });

  /** `test/core/every-call.test.ts` tests the permission that the call needs. */
  it("needs known scopes, and an account that exists and is not blocked", async () => {
    const { client } = dashboard.stack;
    await newAccount();
    const ask = (request: object) => {
      const links = client(proto.SessionService);
      return links.createSessionLink({ accountId, ...request }).catch(failureOf);
    };
    const scopes = [proto.SessionScope.KEYS_READ];
    for (const wrong of [[], [0], [99], [1, 1]]) {
      expect(await ask({ scopes: wrong })).toMatchObject({ code: "invalid_parameter" });
    }
    const unknown = await ask({ scopes, accountId: "0".repeat(15) });
    expect(unknown).toMatchObject({ code: "account_not_found" });
    await client(proto.AccountService).blockAccount({ accountId });
    expect(await ask({ scopes })).toMatchObject({ code: "account_unavailable" });
  });

  it("is refused by a core that has no address of the dashboard", async () => {
    const { stack } = dashboard;
    const env = { DASHBOARD_URL: "", DASHBOARD_PORT: "" };
    const { corePort, stop } = await stack.startInstance({ env });
    const credential = await stack.credential(Permission.SessionCreate);
    const links = clientsOf(`http://127.0.0.1:${corePort}`, credential)(proto.SessionService);
    const asked = { accountId: await newAccount(), scopes: [proto.SessionScope.KEYS_READ] };
    const failure = await links.createSessionLink(asked).catch(failureOf);
    expect(failure).toMatchObject({ code: "dashboard_not_served" });
    await stop();
  });
});

describe("ADR 0038: a session", () => {
  it("is a cookie of one host for TLS only, hidden from scripts and other sites", async () => {
    const answer = await exchange(await dashboard.code(await newAccount()));
    expect(answer.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        /^__Host-session=[0-9a-f]{64}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=43200$/,
      ),
    ]);
    expect(answer.headers["cache-control"]).toBe("no-store");
  });

  it("and its link are stored as hashes only", async () => {
    const code = await dashboard.code(await newAccount());
    const browser = dashboard.browser();
    await browser.call(exchangeCode, { code });
    const text = secretIn(browser);
    const rows = await dashboard.stack.database.query<object>(
      `SELECT LOWER(HEX(code_hash)) AS code, LOWER(HEX(l.session_hash)) AS session, l.*, s.*
       FROM session_link l JOIN dashboard_session s ON s.session_hash = l.session_hash
       WHERE l.code_hash = UNHEX(?)`,
      [sha256(code)],
    );
    expect(rows).toMatchObject([{ code: sha256(code), session: sha256(text) }]);
    for (const secret of [code, text]) expect(textOf(rows[0])).not.toContain(secret);
  });

  it("ends twelve hours after it began", async () => {
    const browser = await signInToNew();
    const hours = (Date.parse((await sessionIn(browser)).expiresAt) - Date.now()) / 3_600_000;
    expect(Math.abs(hours - 12)).toBeLessThan(0.01);
    await expire("dashboard_session");
    expect(await browser.call(getSession)).toMatchObject(ENDED);
  });

  it("ends when its owner signs out, in that browser only", async () => {
    const [one, other] = [await signInToNew(), await dashboard.signIn(accountId)];
    const before = one.cookie ?? "";
    expect(await one.call(signOut)).toMatchObject(OK);
    expect(one.cookie).toBe("__Host-session=");
    expect(await one.call(getSession)).toMatchObject(ENDED);
    expect(await one.call(getSession, {}, { cookie: before })).toMatchObject(ENDED);
    expect(await other.call(getSession)).toMatchObject(OK);
  });

  it("ends with all sessions and links of its account when its owner signs out everywhere", async () => {
    const stranger = await signInToNew();
    const [one, other] = [await signInToNew(), await dashboard.signIn(accountId)];
    const unused = await dashboard.code(accountId);
    expect((await one.call(signOutEverywhere)).status).toBe(200);
    expect(await other.call(getSession)).toMatchObject(ENDED);
    expect(await exchange(unused)).toMatchObject(USED_UP);
    expect(await stranger.call(getSession)).toMatchObject(OK);
  });

  it("that ended before the body of its call creates no API key", async () => {
    const { database } = dashboard.stack;
    const { createApiKey, listApiKeys } = proto.ApiKeyService.method;
    const open = await begin(createApiKey, await signInToNew());
    const [stolen, owner] = [await signInToNew(), await dashboard.signIn(accountId)];
    // The lock lets the test see that the core reads the session before the session ends.
    await database.queryShards("LOCK TABLES dashboard_session WRITE");
    const late = await begin(createApiKey, stolen);
    await expect.poll(() => database.isRunning("SELECT s.session_hash")).toBe(true);
    await database.queryShards("UNLOCK TABLES");
    const answers = [open, late].map((request) => once(request, "response"));
    expect(await owner.call(signOutEverywhere)).toMatchObject(OK);
    // Waits longer than a second, because a call whose body ends within a second is in flight and is not refused.
    expect(await Promise.race([...answers, wait(1_100, "no answer")])).toBe("no answer");
    for (const request of [open, late]) request.end('{"name":"kept","validityDays":365}');
    const statuses = (await Promise.all(answers)).map(([{ statusCode }]) => statusCode);
    expect(statuses).toEqual([200, 401]);
    const { text } = await (await dashboard.signIn(accountId)).call(listApiKeys);
    expect(text).not.toContain("kept");
  });

  it("does not outlive a sign-out everywhere that comes while its link is exchanged", async () => {
    const { database } = dashboard.stack;
    const leaving = await signInToNew();
    const late = dashboard.browser();
    late.cookie = `__Host-session=${LATE_SECRET}`;
    const code = await dashboard.code(accountId);
    await beginExchange(code);
    const left = leaving.call(signOutEverywhere);
    await expect.poll(() => database.isRunning("DELETE FROM session_link")).toBe(true);
    await database.query(
      `INSERT INTO dashboard_session (session_hash, account_no, scopes, expires_at)
       SELECT session_hash, account_no, scopes, ${NOW_MICROS} + 60000000
       FROM session_link WHERE code_hash = UNHEX(?)`,
      [sha256(code)],
    );
    await database.query("COMMIT");
    expect(await left).toMatchObject(OK);
    expect(await late.call(getSession)).toMatchObject(ENDED);
  });

  it("ends for good when its account is blocked, and so does a link", async () => {
    const browser = await signInToNew();
    const unused = await dashboard.code(accountId);
    const accounts = dashboard.stack.client(proto.AccountService);
    await accounts.blockAccount({ accountId });
    expect(await browser.call(getSession)).toMatchObject(ENDED);
    expect(await browser.call(proto.ApiKeyService.method.listApiKeys)).toMatchObject(ENDED);
    await accounts.unblockAccount({ accountId });
    expect(await browser.call(getSession)).toMatchObject(ENDED);
    expect(await exchange(unused)).toMatchObject(USED_UP);
  });

  it("is refused while its account is blocked, and once a deletion of it has begun", async () => {
    const browser = await signInToNew();
    const set = (assignment: string) =>
      dashboard.stack.database.query(`UPDATE account SET ${assignment} WHERE id = ?`, [accountId]);
    await set("blocked_at = 1");
    expect(await browser.call(getSession)).toMatchObject(ENDED);
    await set("blocked_at = NULL");
    expect(await browser.call(getSession)).toMatchObject(OK);
    // A process that is killed during a deletion leaves the rows, so `deleted_at` alone must end the session.
    await set("deleted_at = 1");
    expect(await browser.call(getSession)).toMatchObject(ENDED);
  });

  it("and its link are removed from the database once they have expired, and not before", async () => {
    const { database } = dashboard.stack;
    const browser = await signInToNew();
    const unused = await dashboard.code(accountId);
    await signInToNew();
    for (const table of ["session_link", "dashboard_session"] as const) await expire(table);
    await withProductPool(database, removeExpiredSessions);
    const expired = (table: string) =>
      database.query(`SELECT 1 FROM ${table} WHERE expires_at <= ${NOW_MICROS}`);
    expect(await expired("session_link")).toEqual([]);
    expect(await expired("dashboard_session")).toEqual([]);
    expect(await browser.call(getSession)).toMatchObject(OK);
    expect(await exchange(unused)).toMatchObject(OK);
  });

  it("leaves an audit line when it begins, changes something, is refused a change, and ends", async () => {
    const before = dashboard.stack.log.length;
    const { listApiKeys, revokeApiKey } = proto.ApiKeyService.method;
    const browser = await dashboard.signIn(await newAccount(), [proto.SessionScope.KEYS_WRITE]);
    await browser.call(listApiKeys);
    const subject = "0".repeat(15);
    const request = { accountId: "f".repeat(15), apiKeyId: subject };
    await browser.call(revokeApiKey, request, { "x-request-id": "page-7" });
    await browser.call(signOut);
    const reader = await dashboard.signIn(accountId, [proto.SessionScope.KEYS_READ]);
    await reader.call(revokeApiKey, request);
    const lines = dashboard.stack.log.slice(before).map((line) => JSON.parse(line));
    const line = (method: string, code: string) => ({
      ...{ level: "info", message: "audit", caller: "session", account: accountId },
      ...{ method: `activity.dashboard.v1.${method}`, code },
      ...{ time: expect.any(String), requestId: expect.any(String) },
    });
    const isOfSession = (one: Record<string, unknown>) =>
      one.message === "audit" && one.caller === "session";
    expect(lines.filter(isOfSession)).toEqual([
      line("SessionService/ExchangeCode", "ok"),
      { ...line("ApiKeyService/RevokeApiKey", "NotFound"), subject, requestId: "page-7" },
      line("SessionService/SignOut", "ok"),
      line("SessionService/ExchangeCode", "ok"),
      // The core refused this call before it read the body.
      line("ApiKeyService/RevokeApiKey", "PermissionDenied"),
    ]);
  });
});
