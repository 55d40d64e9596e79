import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Platform } from "@activity/proto";
import { afterAll, beforeAll, describe, it } from "vitest";
import { file, follow } from "../../feed/src/index.ts";
import {
  createPaidDonation,
  createPlatformEvent,
  createReader,
  importDonations,
} from "../harness/builders.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import {
  baseUrlOf,
  connectionTo,
  countingFetch,
  followFor,
  openDoor,
  take,
} from "./harness-feed.ts";

const FOLLOWER = fileURLToPath(new URL("killed-follower.ts", import.meta.url));
const KILLS = 4;

let stack: TestStack;
let folder: string;
const started: ChildProcess[] = [];
beforeAll(async () => {
  stack = await startTestStack();
  folder = mkdtempSync(join(tmpdir(), "activity-follow-"));
});
afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
  await stack.stop();
  rmSync(folder, { recursive: true });
});

/** Stores so many follows, and returns the ids that the feed gives them. */
async function storeFollows(accountId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(`evt_${await createPlatformEvent(stack, accountId)}`);
  }
  return ids;
}
const linesOf = (path: string) =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];

describe("§4.4 a follower of the running product", () => {
  it.concurrent("is given each record of every type once, oldest first", async ({ expect }) => {
    const { accountId, apiKey } = await createReader(stack);
    await importDonations(stack, accountId, 120);
    const kinds = [
      { case: "follow", value: {} },
      { case: "subscription", value: { months: 3n } },
      { case: "giftsub", value: { subscriptions: 5n } },
      { case: "cheer", value: { amount: 100n } },
      { case: "raid", value: { viewers: 40n } },
    ] as const;
    for (const kind of kinds) await createPlatformEvent(stack, accountId, { kind });
    await createPlatformEvent(stack, accountId, {
      platform: Platform.LIVE_PLATFORM_4,
      kind: kinds[3],
    });
    const follower = follow(connectionTo(stack, apiKey));
    const stored = await take(follower, 126);
    const { recordId } = await createPaidDonation(stack, accountId, { donorName: "Ada" });
    const [live] = await take(follower, 1);
    await follower.return();
    expect(live).toMatchObject({ id: `don_${recordId}`, type: "donation", actor: { name: "Ada" } });
    expect(new Set(stored.map(({ id }) => id)).size).toBe(126);
    expect(stored.slice(120).map(({ type, unit }) => `${type} ${unit}`)).toEqual([
      ...["follow none", "subscription months", "giftsub subscriptions"],
      ...["cheer bits", "raid viewers", "cheer diamonds"],
    ]);
  });

  it.concurrent("goes on after a restart where its file says, also amid a page", async ({
    expect,
  }) => {
    const { accountId, apiKey } = await createReader(stack);
    const options = { ...connectionTo(stack, apiKey), checkpoint: file(join(folder, "restart")) };
    const ids = await storeFollows(accountId, 12);
    const first = await followFor(options, 5);
    ids.push(...(await storeFollows(accountId, 3)));
    const second = await followFor(options, 10);
    expect([...first, ...second].map(({ id }) => id)).toEqual(ids);
  });

  it.concurrent("misses nothing when it is killed, and repeats at most what it was at", async ({
    expect,
  }) => {
    const { accountId, apiKey } = await createReader(stack);
    const [checkpoint, notes] = [join(folder, "killed"), join(folder, "notes")];
    const args = [FOLLOWER, baseUrlOf(stack.gatewayPort), apiKey, checkpoint, notes];
    const ids: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      ids.push(...(await storeFollows(accountId, 20)));
      const follower = spawn(process.execPath, args, { stdio: "inherit" });
      started.push(follower);
      const enough = kill * 20 + 7;
      await expect.poll(() => linesOf(notes).length, { interval: 2 }).toBeGreaterThan(enough);
      follower.kill("SIGKILL");
      await once(follower, "exit");
    }
    started.push(spawn(process.execPath, args, { stdio: "inherit" }));
    await expect.poll(() => new Set(linesOf(notes)).size).toBe(ids.length);
    const noted = linesOf(notes);
    expect([...new Set(noted)]).toEqual(ids);
    expect(noted.length).toBeLessThanOrEqual(ids.length + KILLS);
  });

  it.concurrent("is given each record once across a restart of the product", async ({ expect }) => {
    const { accountId, apiKey } = await createReader(stack);
    const product = await stack.startInstance();
    const door = await openDoor(product.gatewayPort);
    const waits: string[] = [];
    const follower = follow({
      ...connectionTo(stack, apiKey),
      baseUrl: baseUrlOf(door.port),
      onWait: (reason) => waits.push(reason),
    });
    const ids = await storeFollows(accountId, 3);
    const before = await take(follower, 3);
    const next = take(follower, 2);
    await product.stop();
    door.leadTo(undefined);
    ids.push(...(await storeFollows(accountId, 2)));
    await expect.poll(() => waits).toContain("network_error");
    door.leadTo((await stack.startInstance()).gatewayPort);
    const after = await next;
    await follower.return();
    door.close();
    expect([...before, ...after].map(({ id }) => id)).toEqual(ids);
  });

  it.concurrent("shares its requests with others of the same key and filters", async ({
    expect,
  }) => {
    const { accountId, apiKey } = await createReader(stack);
    const counted = countingFetch();
    const options = { ...connectionTo(stack, apiKey), fetch: counted, since: undefined };
    const followers = Array.from({ length: 10 }, () => follow(options));
    const first = followers.map((follower) => take(follower, 1));
    await expect.poll(() => counted.urls.some((url) => url.includes("order=asc"))).toBe(true);
    const [id] = await storeFollows(accountId, 1);
    for (const [record] of await Promise.all(first)) expect(record?.id).toBe(id);
    for (const follower of followers) await follower.return();
    const polls = counted.urls.filter((url) => url.includes("order=asc"));
    expect(counted.urls.length - polls.length).toBe(1);
    // One follower alone makes as many: none of these is made for a second one.
    expect(polls.length).toBeLessThan(followers.length);
  });
});
