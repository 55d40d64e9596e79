import { NoticeKind, NoticeService, SessionScope, SessionService } from "@activity/proto";
import { expect, it } from "vitest";
import { createReader } from "../harness/builders.ts";
import { tellOfKeys } from "../harness/notices.ts";
import { useStarted } from "../harness/use-started.ts";
import { type Browser, startDashboard } from "./harness-dashboard.ts";

const dashboard = useStarted(startDashboard);
const { exchangeCode } = SessionService.method;
const { listOpenNotices, dismissNotice, listNotices } = NoticeService.method;

/** Creates an account with two notices: a key ends soon, and a second browser used a link. */
async function createTold() {
  const { stack } = dashboard;
  const { accountId } = await createReader(stack);
  await tellOfKeys(stack.database, accountId);
  const code = await dashboard.code(accountId);
  const browser = dashboard.browser();
  await browser.call(exchangeCode, { code });
  // A second use in the same browser makes no notice.
  expect((await browser.call(exchangeCode, { code })).code).toBe("session_link_used_up");
  expect(await kindsIn(browser)).toEqual([NoticeKind.API_KEY_ENDS]);
  for (let time = 0; time < 2; time++) {
    const { code: refused } = await dashboard.browser().call(exchangeCode, { code });
    expect(refused).toBe("session_link_used_up");
  }
  return { accountId, browser };
}

async function noticesIn(browser: Browser) {
  const { text } = await browser.call(listOpenNotices);
  const { notices = [] }: { notices?: { kind: string; sequence: string }[] } = JSON.parse(text);
  return notices.map(({ kind, sequence }) => ({
    kind: NoticeKind[kind.replace("NOTICE_KIND_", "") as keyof typeof NoticeKind],
    sequence: BigInt(sequence),
  }));
}
const kindsIn = async (browser: Browser) => (await noticesIn(browser)).map(({ kind }) => kind);

it("an owner sees what is open, newest first, until a session dismisses it, ADR 0054", async () => {
  const { accountId, browser } = await createTold();
  const [link, key] = await noticesIn(browser);
  expect([link?.kind, key?.kind]).toEqual([
    NoticeKind.SESSION_LINK_REUSED,
    NoticeKind.API_KEY_ENDS,
  ]);
  for (let time = 0; time < 2; time++) {
    await browser.call(dismissNotice, { sequence: link?.sequence ?? 0n });
  }
  expect(await kindsIn(browser)).toEqual([NoticeKind.API_KEY_ENDS]);
  const other = await dashboard.signIn(accountId);
  expect(await kindsIn(other)).toHaveLength(2);
});

it("a session is told only of what its scopes let it read, and follows no account, ADR 0054", async () => {
  const { accountId } = await createTold();
  const ofKeys = await dashboard.signIn(accountId, [SessionScope.KEYS_READ]);
  expect(await kindsIn(ofKeys)).toHaveLength(2);
  const ofFeed = await dashboard.signIn(accountId, [SessionScope.ACTIVITY_READ]);
  expect(await kindsIn(ofFeed)).toEqual([NoticeKind.SESSION_LINK_REUSED]);
  const refused = await ofFeed.call(listNotices, { accountId, limit: 1 });
  expect(refused.code).toBe("permission_denied");
  expect((await dashboard.browser().call(listOpenNotices)).code).toBe("session_ended");
});

it("holds no code, secret or name", async () => {
  const { accountId } = await createTold();
  const notices = dashboard.stack.client(NoticeService);
  const told = JSON.stringify(await notices.listNotices({ accountId, limit: 200 }), (_, value) =>
    typeof value === "bigint" ? `${value}` : value,
  );
  expect(told).not.toMatch(/Streamer|[0-9a-f]{17}|act_/);
});
