import { describe, expect, it } from "vitest";
import { OverloadedError } from "../common/overloaded-error.ts";
import { createWaitQueue, type QueuedRequest } from "./wait-queue.ts";

const from = (client: string): QueuedRequest => ({ client: Buffer.from(client) });

/** A queue whose batches end when the test says so, and whose clock stands still. */
function createHeldQueue() {
  const batches: { clients: string[]; end(error?: Error): void }[] = [];
  const clock = { nowMs: 0 };
  const submit = createWaitQueue<QueuedRequest, string>({
    nowMs: () => clock.nowMs,
    run: (requests) =>
      new Promise((resolve, reject) => {
        const clients = requests.map(({ client }) => client.toString());
        batches.push({ clients, end: (error) => (error ? reject(error) : resolve(clients)) });
      }),
  });
  const end = async (index: number, error?: Error) => {
    batches[index]?.end(error);
    await new Promise(setImmediate);
  };
  const clients = () => batches.map((batch) => batch.clients);
  return { submit, clients, end, clock };
}

describe("the queue of requests that wait for their count", () => {
  it("sends the first at once and gathers those that come meanwhile, 64 at most", async () => {
    const { submit, clients, end } = createHeldQueue();
    const names = Array.from({ length: 70 }, (_, index) => `${index}`);
    const answers = names.map((name) => submit(from(name)));
    expect(clients()).toEqual([["0"]]);
    for (let index = 0; index < 3; index++) await end(index);
    expect(clients()).toEqual([["0"], names.slice(1, 65), names.slice(65)]);
    expect(await Promise.all(answers)).toEqual(names);
  });

  it("takes from the clients in turn: who asks for much waits behind its own requests", async () => {
    const { submit, clients, end } = createHeldQueue();
    for (let count = 0; count < 100; count++) void submit(from("flood"));
    const others = ["a", "b", "c", "b"];
    for (const name of others) void submit(from(name));
    await end(0);
    const [, batch = []] = clients();
    expect(batch.slice(0, 6)).toEqual(["flood", "a", "b", "c", "flood", "b"]);
    expect(batch).toHaveLength(64);
    await end(1);
    void submit(from("d"));
    await end(2);
    expect(clients()[3]).toEqual(["d"]);
  });

  it("does not ask for those who went away", async () => {
    const { submit, clients, end } = createHeldQueue();
    void submit(from("first"));
    const gone = new AbortController();
    const left = submit({ ...from("gone"), signal: gone.signal });
    void submit(from("stays"));
    gone.abort(new Error("went away"));
    await Promise.all([end(0), expect(left).rejects.toThrow("went away")]);
    expect(clients()).toEqual([["first"], ["stays"]]);
  });

  it("refuses who waited four seconds, however few wait", async () => {
    const { submit, clients, end, clock } = createHeldQueue();
    void submit(from("slow"));
    const late = submit(from("late"));
    clock.nowMs = 2_000;
    const inTime = submit(from("in time"));
    clock.nowMs = 4_500;
    await Promise.all([end(0), expect(late).rejects.toThrow(OverloadedError)]);
    await end(1);
    expect(await inTime).toBe("in time");
    expect(clients()).toEqual([["slow"], ["in time"]]);
  });

  it("fails those of a batch that failed, and goes on with the next", async () => {
    const { submit, end } = createHeldQueue();
    const [first, second] = [submit(from("a")), submit(from("b"))];
    await Promise.all([end(0, new Error("away")), expect(first).rejects.toThrow("away")]);
    await end(1);
    expect(await second).toBe("b");
  });
});
