import { expect, it, vi } from "vitest";
import { callBack } from "./call-back.ts";

const refused = ["::1", "127.0.0.1"].map((host) => new Error(`connect ECONNREFUSED ${host}:1`));
const ADDRESSES = "connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1";
const cause = Object.assign(new Error("the row exists"), { detail: "confidential" });

it.each([
  [
    "an error and its cause",
    Object.assign(new Error("insert", { cause }), { sql: "confidential" }),
    /: Error: insert\n +at .*\n {2}cause: the row exists$/s,
  ],
  [
    "refused addresses",
    new AggregateError(refused),
    new RegExp(`\n +at .*\n  errors: ${ADDRESSES}$`, "s"),
  ],
  [
    "a cause with refused addresses",
    new TypeError("fetch failed", { cause: new AggregateError(refused) }),
    new RegExp(`\n  cause: ${ADDRESSES}$`),
  ],
  ["an object with a message", { message: "no row", details: "confidential" }, /failed: no row$/],
  ["an object without a prototype", Object.create(null), /failed: an object without a message$/],
])(
  "logs what is known of %s, but no property that can hold a supporter's data",
  async (_, error, text) => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    await callBack("onWait", () => Promise.reject(error));
    expect(logged.mock.lastCall).toEqual([expect.stringMatching(text)]);
    expect(logged.mock.lastCall?.[0]).not.toContain("confidential");
    logged.mockRestore();
  },
);
