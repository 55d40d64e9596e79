import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { whileCoreAnswers } from "./while-core-answers.ts";

it("rejects, and leaves no rejection unhandled, when the work fails while the core is asked", async () => {
  const work = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<never>();
  const answers = [Promise.resolve({ id: "0123456789ab" }), answer.promise];
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  const ended = whileCoreAnswers(
    {
      dispatch: { getInstallation: () => answers.shift() as never },
      timing: {
        nowMs: () => 0,
        after(_, callback) {
          setImmediate(callback);
          return () => undefined;
        },
      },
    },
    new AbortController().signal,
    () => work.promise,
  );
  while (answers.length > 0) await turn();
  work.reject(new Error("Temporal is away"));
  await turn();
  answer.resolve({ id: "" } as never);
  await expect(ended).rejects.toThrow("Temporal is away");
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});
