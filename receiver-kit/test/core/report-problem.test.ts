import { expect, it, vi } from "vitest";
import { reportProblem } from "../../src/receiver/report-problem.ts";

const refused = ["::1", "127.0.0.1"].map((host) => new Error(`connect ECONNREFUSED ${host}:1`));
const ADDRESSES = "connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1";

it.each([
  ["refused addresses", new AggregateError(refused), `\n  errors: ${ADDRESSES}`],
  [
    "a cause with refused addresses",
    new TypeError("fetch failed", { cause: new AggregateError(refused) }),
    `\n  cause: ${ADDRESSES}`,
  ],
  [
    "a cause without a message",
    new Error("work", { cause: new TypeError() }),
    "\n  cause: TypeError",
  ],
  ["an object with a message", { message: "no row", details: "confidential" }, ": no row"],
  ["an object without a prototype", Object.create(null), ": an object without a message"],
  ["a symbol", Symbol("stop"), ": Symbol(stop)"],
])("logs what is known of %s", async (_, error, end) => {
  const logged = vi.spyOn(console, "error").mockReturnValue();
  const fail = () => {
    throw error;
  };
  for (const onProblem of [undefined, fail]) {
    await reportProblem({ onProblem }, { status: 500, error });
    const text: string = logged.mock.lastCall?.[0];
    expect(text.endsWith(end), text).toBe(true);
    expect(text).not.toContain("confidential");
  }
  logged.mockRestore();
});
