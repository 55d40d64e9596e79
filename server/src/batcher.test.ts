import { describe, expect, it } from "vitest";
import { createBatcher } from "./batcher.ts";
import { OverloadedError } from "./overloaded-error.ts";

type Request = { key?: string; text: string };

/** A batcher whose batches end when the test says so. */
function createHeldBatcher(options: { largest?: number; mostWaiting?: number } = {}) {
  const batches: { requests: readonly Request[]; end(error?: Error): void }[] = [];
  const submit = createBatcher<Request, string>({
    largest: options.largest ?? 10,
    mostWaiting: options.mostWaiting ?? 100,
    keyOf: (request) => request.key,
    run: (requests) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) =>
          error ? reject(error) : resolve(requests.map(({ text }) => text.toUpperCase()));
        batches.push({ requests, end });
      }),
  });
  const texts = () => batches.map(({ requests }) => requests.map(({ text }) => text));
  const end = async (index: number, error?: Error) => {
    batches[index]?.end(error);
    await new Promise(setImmediate);
  };
  return { submit, texts, end };
}

describe("a batcher", () => {
  it("runs the first request at once and gathers those that come while it runs", async () => {
    const { submit, texts, end } = createHeldBatcher();
    const answers = ["a", "b", "c"].map((text) => submit({ text }));
    expect(texts()).toEqual([["a"]]);
    await end(0);
    expect(texts()).toEqual([["a"], ["b", "c"]]);
    await end(1);
    expect(await Promise.all(answers)).toEqual(["A", "B", "C"]);
  });

  it("takes one request of a key into a batch, and no more than fit", async () => {
    const { submit, texts, end } = createHeldBatcher({ largest: 2 });
    for (const text of ["a", "b", "c", "d"]) {
      void submit({ text, ...(text !== "d" && { key: "same" }) });
    }
    await end(0);
    await end(1);
    expect(texts()).toEqual([["a"], ["b", "d"], ["c"]]);
  });

  it("fails the requests of a failed batch and no others", async () => {
    const { submit, end } = createHeldBatcher();
    const first = submit({ text: "a" });
    const second = submit({ text: "b" });
    const failure = expect(first).rejects.toThrow("broken");
    await end(0, new Error("broken"));
    await failure;
    await end(1);
    expect(await second).toBe("B");
  });

  it("turns requests away once too many wait", async () => {
    const { submit } = createHeldBatcher({ mostWaiting: 1 });
    void submit({ text: "runs" });
    void submit({ text: "waits" });
    await expect(submit({ text: "too many" })).rejects.toThrow(OverloadedError);
  });
});
