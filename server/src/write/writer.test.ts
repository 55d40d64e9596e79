import { PROCESS_TIMING } from "@activity/runtime/timing";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { OverloadedError } from "../common/overloaded-error.ts";
import type { PacketRows, Packets, Statement, Stored } from "../database/packet.ts";
import { createOutbox } from "../dispatch/outbox.ts";
import type { NewWebhookEvent } from "../webhook-event/new-webhook-event.ts";
import { WebhookEventKind } from "../webhook-event/webhook-event-kind.ts";
import { createWriter } from "./writer.ts";

const idOf = (account: number) => `${account.toString(36).padStart(10, "0")}00000`;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/**
 * Creates a writer whose commits call `loaded` before they decide, and end only when the test says so. A write is named
 * by its account and a text. Other transactions have locked the accounts in `locked`.
 */
function createManualWriter(loaded = () => {}, locked = new Set<number>()) {
  const commits: string[][] = [];
  const ends: ((error?: Error) => void)[] = [];
  const together = {
    async loadAndStore<Result>(
      [lock]: readonly Statement[],
      decide: (rows: PacketRows) => Stored<Result>,
    ): Promise<Result> {
      const accountNos = lock?.values[0] as readonly number[];
      const isSkipped = (no: number) => locked.has(no) && lock?.sql.includes("SKIP LOCKED");
      const found = accountNos.filter((no) => !isSkipped(no));
      const accounts = found.map((account_no) => ({
        ...{ account_no, id: idOf(account_no), blocked_at: null, feed_changed_at: 0 },
      }));
      commits.push([]);
      loaded();
      const { result } = decide([accounts, [{ now_micros: 1 }]] as never as PacketRows);
      await new Promise<void>((resolve, reject) =>
        ends.push((error) => (error ? reject(error) : resolve())),
      );
      return result;
    },
  } as Packets;
  const outbox = createOutbox(PROCESS_TIMING);
  const writer = createWriter({ together, alone: { ...together }, leftOut: together }, outbox, {
    note: () => undefined,
  });
  return {
    ...{ commits, outbox },
    write: (
      account: number,
      text: string,
      touches: readonly string[] | null = [text],
      events: readonly NewWebhookEvent[] = [],
    ) =>
      writer.write({
        ...{ accountId: idOf(account), ...(touches && { touches }), load: () => ({}) },
        decide() {
          commits.at(-1)?.push(`${account} ${text}`);
          return { answer: text, events };
        },
      }),
    /** Ends the last commit. The next one begins. */
    async end(error?: Error) {
      ends.at(-1)?.(error);
      await new Promise(setImmediate);
    },
    /** Ends all commits in flight. The next ones begin. */
    async endAll() {
      for (const each of ends) each();
      await new Promise(setImmediate);
    },
    begun: () => new Promise(setImmediate),
  };
}

it("takes waiting writes round-robin by account, so that a busy account delays only itself, ADR 0031", async () => {
  const { commits, write, end, begun } = createManualWriter();
  const answers = [write(1, "first")];
  await begun();
  for (let count = 1; count <= 5_000; count++) answers.push(write(1, `${count}`));
  answers.push(write(2, "one"), write(3, "one"), write(3, "two"));
  await end();
  expect(commits[1]?.slice(0, 6)).toEqual(["1 1", "2 one", "3 one", "1 2", "3 two", "1 3"]);
  expect(commits[1]).toHaveLength(64);
  for (let count = 1; count <= 100; count++) answers.push(write(10 + count, "one"));
  await end();
  await end();
  // Of 101 accounts, each is served before any is served again.
  expect(new Set(commits.slice(2, 4).flat().slice(0, 101).map(accountOf)).size).toBe(101);
  while (commits.flat().length < answers.length) await end();
  await end();
  expect((await Promise.all(answers)).slice(1, 4)).toEqual(["1", "2", "3"]);
  const ofBusy = commits.flat().filter((name) => accountOf(name) === "1");
  expect(ofBusy).toEqual(["1 first", ...Array.from({ length: 5_000 }, (_, at) => `1 ${at + 1}`)]);
});

const accountOf = (name: string) => name.split(" ")[0];

it("commits after a commit with an event only when the pollers caught up, or after 40 ms, ADR 0031", async () => {
  const { commits, outbox, write, end, begun } = createManualWriter();
  const caughtUp = Promise.withResolvers<void>();
  const wait = vi.spyOn(outbox.attempts, "caughtUp").mockReturnValue(caughtUp.promise);
  void write(1, "without event");
  await begun();
  void write(1, "with event", ["name"], [EVENT]);
  await end();
  void write(2, "next");
  await end();
  expect(commits).toEqual([["1 without event"], ["1 with event"]]);
  expect(wait.mock.calls).toEqual([[40]]);
  caughtUp.resolve();
  await begun();
  expect(commits).toEqual([["1 without event"], ["1 with event"], ["2 next"]]);
});

const ENDPOINT = { id: "e", kinds: 1, url: "", secret: Buffer.alloc(0), standardWebhooks: false };
const EVENT: NewWebhookEvent = {
  ...{ id: "wev_1", kind: WebhookEventKind.DonationCreated, test: true, createdAtMicros: 1 },
  ...{ recordId: undefined, payload: Buffer.alloc(0) },
  deliveries: [
    { id: "d", endpoint: { ...ENDPOINT, minAmountCents: 0, switchedOn: true }, isPaused: false },
  ],
};

it("takes a write after all earlier ones that share a name with it, ADR 0031", async () => {
  const { commits, write, end, begun } = createManualWriter();
  void write(1, "first");
  await begun();
  void write(1, "a");
  void write(1, "a and b", ["a", "b"]);
  void write(1, "b");
  void write(1, "c");
  void write(2, "b");
  void write(1, "again b", ["b"]);
  for (let commit = 0; commit < 4; commit++) await end();
  expect(commits.slice(1)).toEqual([["1 a", "2 b", "1 c"], ["1 a and b"], ["1 b"], ["1 again b"]]);
});

it("refuses a write that waited ten seconds as overloaded, and never sends it, ADR 0031", async () => {
  const { commits, write, end, begun } = createManualWriter();
  void write(1, "slow");
  await begun();
  const late = [write(1, "late", ["name"]), write(2, "late")];
  vi.advanceTimersByTime(5_000);
  const inTime = write(1, "in time", ["name"]);
  vi.advanceTimersByTime(5_001);
  const refused = late.map((each) => expect(each).rejects.toThrow(OverloadedError));
  await Promise.all([end(), ...refused]);
  await end();
  expect(await inTime).toBe("in time");
  expect(commits).toEqual([["1 slow"], ["1 in time"]]);
});

it("does not begin a write that waited ten seconds for a connection or a lock, ADR 0031", async () => {
  const { commits, write, end, begun } = createManualWriter(() => vi.advanceTimersByTime(10_001));
  const late = expect(write(1, "late", null)).rejects.toThrow("waited for its account");
  await begun();
  await Promise.all([end(), late]);
  expect(commits).toEqual([[]]);
});

it("commits again after every waiting write was refused", async () => {
  const { commits, write, end, begun } = createManualWriter();
  void write(1, "slow");
  await begun();
  const late = write(2, "late");
  vi.advanceTimersByTime(10_001);
  await Promise.all([end(), expect(late).rejects.toThrow(OverloadedError)]);
  const next = write(2, "next");
  await begun();
  await end();
  expect(await next).toBe("next");
  expect(commits).toEqual([["1 slow"], ["2 next"]]);
});

it("rejects all waiting writes when the connection is lost", async () => {
  const { commits, write, end, begun } = createManualWriter();
  const writes = [write(1, "first")];
  await begun();
  writes.push(write(1, "second"), write(2, "third"));
  const lost = Object.assign(new Error("lost"), { fatal: true });
  const rejected = writes.map((each) => expect(each).rejects.toThrow("lost"));
  await Promise.all([end(lost), ...rejected]);
  expect(commits).toEqual([["1 first"]]);
});

it("commits the writes of a locked account together, ADR 0031", async () => {
  const { commits, write, endAll, begun } = createManualWriter(undefined, new Set([1]));
  const answers = Array.from({ length: 70 }, (_, at) => write(1, `${at}`));
  answers.push(write(1, "again 69", ["69"]), write(2, "other"));
  for (let turn = 0; turn < 12; turn++) {
    await begun();
    await endAll();
  }
  expect(await Promise.all(answers)).toHaveLength(72);
  const ofLocked = commits.filter((names) => names.some((name) => name.startsWith("1 ")));
  expect(ofLocked.flat()).toHaveLength(71);
  expect(ofLocked.length).toBeLessThanOrEqual(4);
  // A write must follow those that it may depend on.
  const of = (name: string) => ofLocked.findIndex((names) => names.includes(`1 ${name}`));
  expect(of("again 69")).toBeGreaterThan(of("69"));
});

it("commits writes without `touches` one after another in each account, ADR 0031", async () => {
  const { commits, write, endAll, begun } = createManualWriter();
  for (const text of ["a", "b"]) void write(1, text, null);
  void write(2, "c", null);
  await begun();
  expect(commits).toEqual([["1 a"], ["2 c"]]);
  await endAll();
  expect(commits).toEqual([["1 a"], ["2 c"], ["1 b"]]);
});

it.each([
  ["failed", new Error("no")],
  ["lost a deadlock", Object.assign(new Error("deadlock"), { errno: 1213, sqlState: "40001" })],
])("commits each write alone after a commit of a locked account %s", async (_, failure) => {
  const { commits, write, end, begun } = createManualWriter(undefined, new Set([1]));
  const answers = [write(1, "a"), write(1, "b")];
  await begun();
  await end();
  await end(failure);
  await end();
  await end();
  expect(await Promise.all(answers)).toEqual(["a", "b"]);
  expect(commits).toEqual([[], ["1 a", "1 b"], ["1 a"], ["1 b"]]);
});
