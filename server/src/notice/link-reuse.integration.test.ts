import { randomBytes } from "node:crypto";
import { NoticeKind } from "@activity/proto";
import { beforeEach, describe, expect, it } from "vitest";
import { useServices } from "../../../test/harness/services.ts";
import { endSessions } from "../account/account-sessions-store.ts";
import { accountNoOf } from "../common/ids.ts";
import { hashSessionSecret } from "../session/session-secret.ts";
import { exchangeLink } from "../session/session-store.ts";
import { tellLinkReused } from "./link-reuse.ts";
import { sweepNotices } from "./notice-sweep.ts";

const DAY_MICROS = 86_400_000_000;

const services = useServices();
let accountId: string;
let accountNo: number;
beforeEach(async () => {
  accountId = await services.createAccount();
  accountNo = accountNoOf(accountId) ?? 0;
});

const reuse = () => tellLinkReused(services.pool, accountId, accountId);

/** Creates a session, as a browser does with a new link. */
async function createSession(): Promise<void> {
  const { url } = await services.sessions.createSessionLink({ accountId, scopes: [1] });
  const codeHash = hashSessionSecret(url.slice(url.indexOf("=") + 1));
  await exchangeLink(services.packets, codeHash, randomBytes(32));
}

/** Makes the account's notices and sessions older. */
async function age(micros: number): Promise<void> {
  const { database } = services;
  const notices = "UPDATE notice SET since = since - ? WHERE account_id = ?";
  await database.query(notices, [micros, accountId]);
  const sessions = "UPDATE dashboard_session SET created_at = created_at - ? WHERE account_no = ?";
  await database.query(sessions, [micros, accountNo]);
}

/** Sweeps, and returns whether each notice of the account is open. */
async function sweep() {
  await sweepNotices(services.pool);
  const { notices } = await services.notices.listNotices({ accountId, limit: 200 });
  expect(notices.every(({ kind }) => kind === NoticeKind.SESSION_LINK_REUSED)).toBe(true);
  return notices.map(({ closedAt }) => (closedAt === undefined ? "open" : "closed"));
}

describe("a link that was used again has one notice, ADR 0054", () => {
  it("until its sessions have expired", async () => {
    await createSession();
    for (let time = 0; time < 2; time++) await reuse();
    expect(await sweep()).toEqual(["open"]);
    await age(DAY_MICROS);
    expect(await sweep()).toEqual(["closed"]);
    await reuse();
    expect(await sweep()).toEqual(["closed"]);
  });

  it("although its sessions have ended, because a thief could end them to hide it", async () => {
    await createSession();
    await reuse();
    await services.packets.run(endSessions(accountNo));
    expect(await sweep()).toEqual(["open"]);
  });
});
