import { createLog } from "@activity/runtime/log";
import { expect, it } from "vitest";
import { DatabaseTimeoutError } from "../database/deadline.ts";
import { createOutageLog } from "./outage-log.ts";

/** Creates an outage log whose clock is set by the test. */
function openLog() {
  const clock = { ms: 0 };
  const lines: string[] = [];
  const logOutage = createOutageLog(createLog(lines.push.bind(lines)), () => clock.ms);
  return { clock, logOutage, messages: () => lines.map((line) => JSON.parse(line).message) };
}

it("logs each message at most once in ten seconds", () => {
  const { clock, logOutage, messages } = openLog();
  for (const ms of [0, 1, 9_999, 10_000, 10_001]) {
    clock.ms = ms;
    logOutage("a", new Error());
  }
  logOutage("b", new Error());
  expect(messages()).toEqual(["a", "a", "b"]);
});

const replyError = (message: string) => Object.assign(new Error(message), { name: "ReplyError" });
const failure = (fields: object) => Object.assign(new Error("statement 'secret'"), fields);

it.each([
  ["ER_ACCESS_DENIED_ERROR", failure({ code: "ER_ACCESS_DENIED_ERROR", errno: 1045 })],
  ["9001", failure({ code: undefined, errno: 9001 })],
  ["OOM", replyError("OOM command not allowed 'secret'")],
  ["OOM", replyError("ERR Error running script (call to f_8e): @user_script: 3: -OOM 'secret'")],
  ["ERR", replyError("ERR unknown command 'secret -OOM'")],
  [
    "The database took longer than 5 ms.",
    new DatabaseTimeoutError("The database took longer than 5 ms."),
  ],
  ["ECONNREFUSED", new Error("away", { cause: failure({ code: "ECONNREFUSED" }) })],
])("shows the reason %s, and nothing that a server quotes", (reason, error) => {
  const lines: string[] = [];
  createOutageLog(createLog(lines.push.bind(lines)))("away", error, { call: "x" });
  expect(JSON.parse(lines.join(""))).toEqual({
    ...{ level: "warn", message: "away", call: "x", reason },
  });
});
