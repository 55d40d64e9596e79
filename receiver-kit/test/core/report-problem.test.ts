import { expect, it, vi } from "vitest";
import { reportProblem } from "../../src/receiver/report-problem.ts";

const refused = Object.assign(new AggregateError([]), { code: "ECONNREFUSED" });

it.each([
  [
    "a cause without a message",
    new TypeError("fetch failed", { cause: refused }),
    "AggregateError",
  ],
  ["an object with a message", { message: "no row", details: "confidential" }, ": no row"],
  ["an object without a prototype", Object.create(null), ": no message"],
  ["nothing", undefined, ": undefined"],
  ["a symbol", Symbol("stop"), ": Symbol(stop)"],
])("logs what is known of %s", async (_, error, known) => {
  const logged = vi.spyOn(console, "error").mockReturnValue();
  const fail = () => {
    throw error;
  };
  for (const onProblem of [undefined, fail]) {
    await reportProblem({ onProblem }, { status: 500, error });
    const text: string = logged.mock.lastCall?.[0];
    expect(text).toContain(known);
    expect(text).not.toContain("confidential");
    logged.mockClear();
  }
  logged.mockRestore();
});
