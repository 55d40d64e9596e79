import { describe, expect, it } from "vitest";
import { OverloadedError } from "../common/overloaded-error.ts";
import { createWaitQueue, type QueuedRequest } from "./wait-queue.ts";

const from = (client: string): QueuedRequest => ({ client: Buffer.from(client) });

/** Creates a queue whose batches end, and whose clock moves, only when the test says so. */
function createManualQueue() {
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
  it("sends the first request at once, and later ones in batches of at most 64", async () => {
    const { submit, clients, end } = createManualQueue();
    const names = Array.from({ length: 70 }, (_, index) => `${index}`);
    const answers = names.map((name) => submit(from(name)));
    expect(clients()).toEqual([["0"]]);
    for (let index = 0; index < 3; index++) await end(index);
    expect(clients()).toEqual([["0"], names.slice(1, 65), names.slice(65)]);
    expect(await Promise.all(answers)).toEqual(names);
  });

  it("takes requests round-robin by client, so that a busy client delays only itself", async () => {
    const { submit, clients, end } = createManualQueue();
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

  it("does not send requests of clients that left", async () => {
    const { submit, clients, end } = createManualQueue();
    void submit(from("first"));
    const gone = new AbortController();
    const left = submit({ ...from("gone"), signal: gone.signal });
    void submit(from("stays"));
    gone.abort(new Error("went away"));
    await Promise.all([end(0), expect(left).rejects.toThrow("went away")]);
    expect(clients()).toEqual([["first"], ["stays"]]);
  });

  it("refuses a request that waited four seconds, however few wait", async () => {
    const { submit, clients, end, clock } = createManualQueue();
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

  it("fails all requests of a failed batch, and continues with the next batch", async () => {
    const { submit, end } = createManualQueue();
    const [first, second] = [submit(from("a")), submit(from("b"))];
    await Promise.all([end(0, new Error("away")), expect(first).rejects.toThrow("away")]);
    await end(1);
    expect(await second).toBe("b");
  });
});
