import {
  ListNoticesResponseSchema,
  ListOpenNoticesResponseSchema,
  NoticeKind,
  NoticeService,
  SessionScope,
  SessionService,
} from "@activity/proto";
import { fromJsonString, toJsonString } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { createReader } from "../harness/builders.ts";
import { tellOfKeys } from "../harness/notices.ts";
import { useStarted } from "../harness/use-started.ts";
import { type Browser, startDashboard } from "./harness-dashboard.ts";

const dashboard = useStarted(startDashboard);
/** In the year 2100: greater than every sequence that the core gives, because a sequence is a time in microseconds. */
let nextSequence = 4_102_444_800_000_000;
const { exchangeCode } = SessionService.method;
const { listOpenNotices, dismissNotice, listNotices } = NoticeService.method;

/** Creates an account with two notices: a key ends soon, and a second browser used a link. */
async function createNotified() {
  const { stack } = dashboard;
  const { accountId } = await createReader(stack);
  await tellOfKeys(stack.database, accountId);
  const code = await dashboard.code(accountId);
  const browser = dashboard.browser();
  await browser.call(exchangeCode, { code });
  // A second use in the same browser creates no notice.
  expect((await browser.call(exchangeCode, { code })).code).toBe("session_link_used_up");
  expect(await kindsIn(browser)).toEqual([NoticeKind.API_KEY_ENDS]);
  for (const other of [dashboard.browser(), dashboard.browser()]) {
    expect((await other.call(exchangeCode, { code })).code).toBe("session_link_used_up");
  }
  return { accountId, browser };
}

async function noticesIn(browser: Browser) {
  const { text } = await browser.call(listOpenNotices);
  return fromJsonString(ListOpenNoticesResponseSchema, text).notices;
}
const kindsIn = async (browser: Browser) => (await noticesIn(browser)).map(({ kind }) => kind);

it("ADR 0054: an owner sees open notices, newest first, until a session dismisses them; none holds a code, secret or name", async () => {
  const { accountId, browser } = await createNotified();
  const [link, key] = await noticesIn(browser);
  expect(link?.kind).toBe(NoticeKind.SESSION_LINK_REUSED);
  expect(key?.kind).toBe(NoticeKind.API_KEY_ENDS);
  for (let time = 0; time < 2; time++) {
    await browser.call(dismissNotice, { sequence: link?.sequence ?? 0n });
  }
  expect(await kindsIn(browser)).toEqual([NoticeKind.API_KEY_ENDS]);
  const other = await dashboard.signIn(accountId);
  expect(await kindsIn(other)).toHaveLength(2);
  const listed = await dashboard.stack.client(NoticeService).listNotices({ accountId, limit: 200 });
  expect(listed.notices).toHaveLength(2);
  // The notices contain no code, secret or name.
  expect(toJsonString(ListNoticesResponseSchema, listed)).not.toMatch(/Streamer|[0-9a-f]{17}|act_/);
});

/** Writes notices of failed runs. Returns their sequences. */
async function tellOfRuns(accountId: string, count: number): Promise<bigint[]> {
  const sequences = Array.from({ length: count }, () => nextSequence++);
  await dashboard.stack.database.query(
    "INSERT INTO notice (sequence, account_id, kind, subject_id, level, since) VALUES ?",
    [sequences.map((each, at) => [each, accountId, NoticeKind.RUN_FAILED, `endpoint ${at}`, 0, 0])],
  );
  return sequences.map(BigInt);
}

it("ADR 0054: a session sees all notices of its scopes and no others, and may not list by account", async () => {
  const { accountId } = await createNotified();
  await tellOfRuns(accountId, 101);
  const ofKeys = await dashboard.signIn(accountId, [SessionScope.KEYS_READ]);
  expect(await kindsIn(ofKeys)).toEqual([NoticeKind.SESSION_LINK_REUSED, NoticeKind.API_KEY_ENDS]);
  const ofFeed = await dashboard.signIn(accountId, [SessionScope.ACTIVITY_READ]);
  expect(await kindsIn(ofFeed)).toEqual([NoticeKind.SESSION_LINK_REUSED]);
  const refused = await ofFeed.call(listNotices, { accountId, limit: 1 });
  expect(refused.code).toBe("permission_denied");
  expect((await dashboard.browser().call(listOpenNotices)).code).toBe("session_ended");
});

it("ADR 0054: a session keeps the last 100 notices that it dismissed, also if it dismisses them at the same time", async () => {
  const { accountId } = await createReader(dashboard.stack);
  const sequences = await tellOfRuns(accountId, 101);
  const browser = await dashboard.signIn(accountId);
  const dismissals = await Promise.all(
    sequences.map((sequence) => browser.call(dismissNotice, { sequence })),
  );
  expect(new Set(dismissals.map(({ status }) => status))).toEqual(new Set([200]));
  expect(await kindsIn(browser)).toEqual([NoticeKind.RUN_FAILED]);
});

it("ADR 0054: a second use after the link's five minutes gives no notice", async () => {
  const { accountId } = await createReader(dashboard.stack);
  const code = await dashboard.code(accountId);
  const browser = dashboard.browser();
  await browser.call(exchangeCode, { code });
  await dashboard.stack.database.query(
    "UPDATE session_link SET expires_at = 0 WHERE code_hash = UNHEX(SHA2(?, 256))",
    [code],
  );
  const late = await dashboard.browser().call(exchangeCode, { code });
  expect(late.code).toBe("session_link_used_up");
  expect(await kindsIn(browser)).toEqual([]);
});
