// Lets a donation's message choose a fault of its first delivery. A user's receiver does not have this.
import { subscribe } from "node:diagnostics_channel";
import { writeSync } from "node:fs";
import { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

/** The sender's timeout is ten seconds. §6.4 */
const LATE_MS = 10_500;

/** The events whose last request was a first attempt. */
const firsts = new Set();
/** The faults that the answers of events have. */
const faults = new Map();

subscribe("http.server.request.start", ({ request: { headers } }) => {
  const eventId = headers["service-event-id"];
  if (headers["service-attempt"] === "1") firsts.add(eventId);
  else firsts.delete(eventId);
});

/** Runs after the effect, inside its transaction. */
export function beforeCommit({ id, data }) {
  if (!firsts.has(id)) return;
  if (data.message === "killed before commit") kill(data.message);
  if (data.message === "work fails") throw new Error(tell(data.message));
  faults.set(id, data.message);
}

// Runs after the commit, before the first byte of the answer.
const { end } = ServerResponse.prototype;
ServerResponse.prototype.end = function (...content) {
  const eventId = this.req.headers["service-event-id"];
  const fault = faults.get(eventId);
  faults.delete(eventId);
  if (fault === "killed before answer") kill(fault);
  const late = fault === "answers late" && wait(LATE_MS, tell(fault));
  if (late) late.then(() => end.apply(this, content));
  else end.apply(this, content);
  return this;
};

function kill(fault) {
  tell(fault);
  process.kill(process.pid, "SIGKILL");
}

function tell(fault) {
  writeSync(1, `fault: ${fault}\n`);
  return fault;
}
