import { AttemptOutcome, type Notice, NoticeKind } from "@activity/proto";
import { timestampFromMs, timestampMs, timestampNow } from "@bufbuild/protobuf/wkt";
import { beforeEach, describe, expect, it } from "vitest";
import { createPaidDonation } from "../../../test/harness/builders.ts";
import { rowCounterOf } from "../../../test/harness/row-reads.ts";
import { EVER, useServices } from "../../../test/harness/services.ts";
import { endSessions } from "../account/account-sessions-store.ts";
import { accountNoOf } from "../common/ids.ts";
import { NOW_MICROS } from "../database/now.ts";
import { countAttempts } from "../delivery-stat/delivery-stat.ts";
import { tellLinkReused } from "./link-reuse.ts";
import { removeOldNotices, sweepNotices } from "./notice-sweep.ts";

const { ENDPOINT_FAILING, RUN_FAILED, API_KEY_ENDS, SECRET_OVERLAP_ENDS, SESSION_LINK_REUSED } =
  NoticeKind;
const DAY_MICROS = 86_400_000_000;
const MINUTE_MS = 60_000;
/** A transaction of a sweep takes only this many subjects, so that the sweep needs many transactions. */
const FEW = 3;

const services = useServices();
let accountId: string;
let endpointId: string;
beforeEach(async () => {
  accountId = await services.createAccount();
  endpointId = await services.createEndpoint(accountId);
});

const query = (sql: string, ...values: unknown[]) => services.database.query(sql, values);

async function notices(): Promise<Notice[]> {
  return (await services.notices.listNotices({ accountId, limit: 200 })).notices;
}

/** Sweeps, and returns the kind and level of each notice of the account, with "closed" if it is closed. */
async function sweep() {
  await sweepNotices(services.pool);
  return (await notices()).map(({ kind, level, closedAt }) =>
    closedAt === undefined ? [kind, level] : [kind, level, "closed"],
  );
}

/** Sets the endpoint's attempts of this hour, or of the hour `hoursAhead` hours later (earlier if negative). */
const attempts = (delivered: number, failed: number, hoursAhead = 0) =>
  query(
    `INSERT INTO delivery_stat (account_no, endpoint_id, began_at, delivered, failed, total_duration,
       longest_duration) VALUES (?, ?, (${NOW_MICROS} DIV 3600000000 + ?) * 3600000000, ?, ?, 1, 1)
     ON DUPLICATE KEY UPDATE delivered = VALUES(delivered), failed = VALUES(failed)`,
    ...[accountNoOf(accountId), endpointId, hoursAhead, delivered, failed],
  );

async function createKey() {
  const key = { accountId, name: "key", validityDays: 30 };
  return (await services.apiKeys.createApiKey(key)).apiKey?.id ?? "";
}
const keyEndsIn = (days: number) =>
  query(
    `UPDATE api_key SET expires_at = ${NOW_MICROS} + ? WHERE account_no = ?`,
    ...[days * DAY_MICROS, accountNoOf(accountId)],
  );

it("a sweep locks the notices once for an endpoint that fails in many hours, ADR 0054", async () => {
  const locks = await rowCounterOf(services.database, "installation");
  const locksOfSweep = async () => {
    const before = await locks();
    await sweepNotices(services.pool, 1);
    return (await locks()) - before;
  };
  await attempts(20, 1);
  const once = await locksOfSweep();
  for (const hoursAhead of [-1, -2, -3]) await attempts(20, 1, hoursAhead);
  expect(await locksOfSweep()).toBe(once);
});

describe("a notice is written once for each level, ADR 0054", () => {
  it("for an endpoint whose attempts fail, and again only after it worked", async () => {
    await attempts(11, 9);
    expect(await sweep()).toEqual([]);
    await attempts(8, 12);
    expect(await sweep()).toEqual([[ENDPOINT_FAILING, 50]]);
    await attempts(0, 20);
    const grown = [
      [ENDPOINT_FAILING, 50, "closed"],
      [ENDPOINT_FAILING, 100],
    ];
    expect(await sweep()).toEqual(grown);
    for (const failed of [12, 8, 20]) {
      await attempts(20 - failed, failed);
      expect(await sweep()).toEqual(grown);
    }
    await attempts(90, 10);
    const over = [...grown.slice(0, 1), [ENDPOINT_FAILING, 100, "closed"]];
    expect(await sweep()).toEqual(over);
    await attempts(0, 30);
    expect(await sweep()).toEqual([...over, [ENDPOINT_FAILING, 100]]);
    const [first, second] = await notices();
    expect(second).toMatchObject({ subjectId: endpointId, since: first?.since });
    // Owners switch an endpoint off to repair it. Until its next attempt, the problem is still the same.
    await services.endpoints.switchOffEndpoint({ accountId, endpointId });
    expect(await sweep()).toEqual([...over, [ENDPOINT_FAILING, 100]]);
    await services.endpoints.switchOnEndpoint({ accountId, endpointId });
    expect(await sweep()).toEqual([...over, [ENDPOINT_FAILING, 100]]);
  });

  it("for an endpoint's failures of the last day", async () => {
    await attempts(0, 20, -24);
    expect(await sweep()).toEqual([]);
    // Not -23, because the hour may end before the sweep.
    await attempts(0, 20, -22);
    expect(await sweep()).toEqual([[ENDPOINT_FAILING, 100]]);
  });

  it("for no hour from before the database's clock stepped back", async () => {
    await attempts(20, 0);
    await attempts(0, 20, 2);
    expect(await sweep()).toEqual([]);
  });

  it("for all failed runs of an endpoint together, without tests", async () => {
    const end = async (count: number, outcome: AttemptOutcome) => {
      for (let sent = 0; sent < count; sent++) await createPaidDonation(services, accountId);
      const claim = { limit: 256, endpointLimit: 64 };
      const { attempts: claimed } = await services.dispatch.claimAttempts(claim);
      const startedAt = timestampNow();
      for (const { run } of claimed) await services.record(run, outcome, { startedAt });
      await countAttempts(services.pool);
    };
    const ofRuns = async () => (await sweep()).filter(([kind]) => kind === RUN_FAILED);
    const failTest = async () => {
      const test = await services.sendTest(accountId, endpointId);
      await services.record(test, AttemptOutcome.REJECTED, { startedAt: timestampNow() });
    };
    await failTest();
    await end(3, AttemptOutcome.DELIVERED);
    expect(await ofRuns()).toEqual([]);
    await end(5, AttemptOutcome.REJECTED);
    expect(await ofRuns()).toEqual([[RUN_FAILED, 0]]);
    await end(1, AttemptOutcome.AUTH_REJECTED);
    expect(await ofRuns()).toEqual([[RUN_FAILED, 0]]);
    const [notice] = await notices();
    expect(notice).toMatchObject({ subjectId: endpointId, severity: 2 });
    expect(notice?.advice).toContain("retry its failed deliveries");
    await services.deliveries.retryFailedDeliveries({ accountId, endpointId, ...EVER });
    await failTest();
    expect(await ofRuns()).toEqual([[RUN_FAILED, 0, "closed"]]);
    await end(0, AttemptOutcome.REJECTED);
    expect(await ofRuns()).toEqual([
      [RUN_FAILED, 0, "closed"],
      [RUN_FAILED, 0],
    ]);
    await services.endpoints.deleteEndpoint({ accountId, endpointId });
    expect((await ofRuns()).at(-1)).toEqual([RUN_FAILED, 0, "closed"]);
  });

  it("for a key that ends, until it is renewed or revoked", async () => {
    const apiKeyId = await createKey();
    expect(await sweep()).toEqual([]);
    for (const [days, level] of [
      [13.9, 14],
      [2, 3],
    ] as const) {
      await keyEndsIn(days);
      await sweep();
      expect((await notices()).at(-1)).toMatchObject({ kind: API_KEY_ENDS, level });
    }
    await services.apiKeys.renewApiKey({ accountId, apiKeyId, validityDays: 30 });
    const before = [
      [API_KEY_ENDS, 14, "closed"],
      [API_KEY_ENDS, 3, "closed"],
    ];
    expect(await sweep()).toEqual(before);
    await keyEndsIn(-1);
    expect(await sweep()).toEqual([...before, [API_KEY_ENDS, 0]]);
    expect((await notices()).at(-1)).toMatchObject({ subjectId: apiKeyId, severity: 3 });
    await services.apiKeys.revokeApiKey({ accountId, apiKeyId });
    expect(await sweep()).toEqual([...before, [API_KEY_ENDS, 0, "closed"]]);
  });

  it("for a signing secret whose overlap ends, once for each rotation", async () => {
    const rotateIn = (minutes: number) => {
      const signsFrom = timestampFromMs(Date.now() + minutes * MINUTE_MS);
      return services.endpoints.rotateSecret({ accountId, endpointId, signsFrom });
    };
    await rotateIn(90);
    expect(await sweep()).toEqual([]);
    await services.endpoints.cancelRotation({ accountId, endpointId });
    const { endpoint } = await rotateIn(30);
    expect(await sweep()).toEqual([[SECRET_OVERLAP_ENDS, 0]]);
    const [notice] = await notices();
    expect(notice?.endsAt && timestampMs(notice.endsAt)).toBe(
      endpoint?.nextSecretSignsFrom && timestampMs(endpoint.nextSecretSignsFrom),
    );
    await services.endpoints.cancelRotation({ accountId, endpointId });
    await rotateIn(20);
    expect(await sweep()).toEqual([
      [SECRET_OVERLAP_ENDS, 0, "closed"],
      [SECRET_OVERLAP_ENDS, 0],
    ]);
  });

  it("for a link that was used again, until its sessions have expired, even if they were ended before", async () => {
    const reuse = () => tellLinkReused(services.pool, accountId, "0123456789abcde");
    for (let time = 0; time < 2; time++) await reuse();
    // A thief could end the sessions to hide the notice.
    await services.packets.run(endSessions(accountNoOf(accountId) ?? 0));
    expect(await sweep()).toEqual([[SESSION_LINK_REUSED, 0]]);
    const age = (hours: number) =>
      query(
        "UPDATE notice SET since = since - ? WHERE account_id = ?",
        ...[hours * 60 * MINUTE_MS * 1000, accountId],
      );
    await age(11.9);
    expect(await sweep()).toEqual([[SESSION_LINK_REUSED, 0]]);
    await age(0.2);
    expect(await sweep()).toEqual([[SESSION_LINK_REUSED, 0, "closed"]]);
    await reuse();
    expect(await notices()).toHaveLength(1);
  });

  it("by concurrent sweeps, so that a reader of all accounts misses none", async () => {
    const all = await Promise.all(Array.from({ length: 30 }, services.createAccount));
    const { notices: earlier } = await services.notices.listNotices({ limit: 200 });
    let after = earlier.at(-1)?.sequence ?? 0n;
    let isOver = false;
    const seen: Notice[] = [];
    const follow = async () => {
      const page = await services.notices.listNotices({ after, limit: 7 });
      seen.push(...page.notices);
      after = page.notices.at(-1)?.sequence ?? after;
      return page.notices.length;
    };
    const following = (async () => {
      while (!isOver) await follow();
      while ((await follow()) > 0);
    })();
    await Promise.all(
      all.map(async (each, index) => {
        const key = { accountId: each, name: "key", validityDays: 30 };
        await services.apiKeys.createApiKey(key);
        await query(
          "UPDATE api_key SET expires_at = ? WHERE account_no = ?",
          ...[(Date.now() + MINUTE_MS) * 1000, accountNoOf(each)],
        );
        await Promise.all([
          sweepNotices(services.pool, FEW),
          tellLinkReused(services.pool, each, `${index}`.padStart(15, "0")),
        ]);
      }),
    );
    await sweepNotices(services.pool, FEW);
    isOver = true;
    await following;
    const expected = all.flatMap((each) => [`${each} 3`, `${each} 0`]);
    const found = seen.filter((notice) => all.includes(notice.accountId));
    expect(found.map((each) => `${each.accountId} ${each.level}`).sort()).toEqual(expected.sort());
    const sequences = seen.map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.toSorted((a, b) => Number(a - b)));
  });
});

describe("notices", () => {
  it("are listed after a sequence, of one account or of all; an unknown account is refused", async () => {
    await createKey();
    await keyEndsIn(1);
    await attempts(0, 20);
    await sweep();
    const [first, second] = await notices();
    const after = first?.sequence ?? 0n;
    const page = await services.notices.listNotices({ accountId, after, limit: 1 });
    expect(page.notices).toEqual([second]);
    const other = await services.createAccount();
    expect((await services.notices.listNotices({ accountId: other, limit: 9 })).notices).toEqual(
      [],
    );
    const unknown = services.notices.listNotices({ accountId: "0".repeat(15), limit: 9 });
    await expect(unknown).rejects.toMatchObject({ code: "account_not_found" });
  });

  it("are deleted some time after they are closed, and with their account", async () => {
    await createKey();
    await keyEndsIn(1);
    await sweep();
    await removeOldNotices(services.pool, -DAY_MICROS);
    expect(await notices()).toHaveLength(1);
    await query("UPDATE notice SET sequence = sequence - ?", 40 * DAY_MICROS);
    await attempts(0, 20);
    await sweep();
    await keyEndsIn(30);
    await sweep();
    await removeOldNotices(services.pool, 30 * DAY_MICROS);
    expect(await notices()).toHaveLength(2);
    await removeOldNotices(services.pool, -DAY_MICROS);
    expect((await notices()).map(({ kind }) => kind)).toEqual([ENDPOINT_FAILING]);
    await services.accounts.deleteAccount({ accountId });
    await sweepNotices(services.pool);
    await tellLinkReused(services.pool, accountId, "0123456789abcdf");
    expect(await query("SELECT 1 FROM notice WHERE account_id = ?", accountId)).toEqual([]);
  });
});
