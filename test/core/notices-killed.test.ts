import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Notice, NoticeKind } from "@activity/proto";
import { expect, it } from "vitest";
import { accountNoOf } from "../../server/src/common/ids.ts";
import { NOW_MICROS } from "../../server/src/database/now.ts";
import { sweepNotices } from "../../server/src/notice/notice-sweep.ts";
import { useServices } from "../harness/services.ts";

const SWEEPER = fileURLToPath(new URL("killed-sweeper.ts", import.meta.url));
const ACCOUNTS = 30;
const KILLS_PER_ROUND = 2;
/** In a round, `failed` of 20 attempts fail and keys end in `days` days. `levels` are the levels of the new notices. */
const ROUNDS = [
  { failed: 10, days: 13, levels: [50, 14] },
  { failed: 15, days: undefined, levels: [70] },
  { failed: 19, days: 2, levels: [90, 3] },
  { failed: 20, days: -1, levels: [100, 0] },
];

const services = useServices();

async function createFailing() {
  const accountId = await services.createAccount();
  const endpointId = await services.createEndpoint(accountId);
  await services.apiKeys.createApiKey({ accountId, name: "key", validityDays: 30 });
  return { accountId, accountNo: accountNoOf(accountId), endpointId };
}

async function worsen(
  all: readonly Awaited<ReturnType<typeof createFailing>>[],
  { failed, days }: (typeof ROUNDS)[number],
) {
  const hour = `${NOW_MICROS} DIV 3600000000 * 3600000000`;
  for (const { accountNo, endpointId } of all) {
    await services.database.query(
      `INSERT INTO delivery_stat (account_no, endpoint_id, began_at, delivered, failed,
         total_duration, longest_duration) VALUES (?, ?, ${hour}, ?, ?, 1, 1)
       ON DUPLICATE KEY UPDATE delivered = VALUES(delivered), failed = VALUES(failed)`,
      [accountNo, endpointId, 20 - failed, failed],
    );
  }
  if (days === undefined) return;
  await services.database.query(`UPDATE api_key SET expires_at = ${NOW_MICROS} + ?`, [
    days * 86_400_000_000,
  ]);
}

it("ADR 0054: a follower gets each level once while the sweeper is killed again and again", async () => {
  const all = await Promise.all(Array.from({ length: ACCOUNTS }, createFailing));
  const seen: Notice[] = [];
  let isOver = false;
  const follow = async () => {
    const after = seen.at(-1)?.sequence ?? 0n;
    const { notices } = await services.notices.listNotices({ after, limit: 50 });
    seen.push(...notices);
    return notices.length;
  };
  const following = (async () => {
    while (!isOver) await follow();
    while ((await follow()) > 0);
  })();

  for (const round of ROUNDS) {
    await worsen(all, round);
    const before = seen.length;
    const expected = ACCOUNTS * round.levels.length;
    for (let kill = 1; kill <= KILLS_PER_ROUND; kill++) {
      const sweeper = spawn(process.execPath, [SWEEPER, services.database.url]);
      const enough = before + Math.floor((expected * kill) / 3) + randomInt(ACCOUNTS / 3);
      await expect.poll(() => seen.length, { interval: 1 }).toBeGreaterThanOrEqual(enough);
      sweeper.kill("SIGKILL");
      await once(sweeper, "exit");
    }
    await sweepNotices(services.pool);
  }
  isOver = true;
  await following;

  const { ENDPOINT_FAILING, API_KEY_ENDS } = NoticeKind;
  for (const { accountId } of all) {
    const levelsOf = (kind: NoticeKind) =>
      seen.flatMap((one) => (one.accountId === accountId && one.kind === kind ? one.level : []));
    expect(levelsOf(ENDPOINT_FAILING)).toEqual([50, 70, 90, 100]);
    expect(levelsOf(API_KEY_ENDS)).toEqual([14, 3, 0]);
  }
  expect(seen).toHaveLength(ACCOUNTS * 7);
});
