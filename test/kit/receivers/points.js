// Lets a test observe a receiver and delay, fail or kill it at certain points. A user's receiver does not have this.
import { subscribe } from "node:diagnostics_channel";
import { ServerResponse } from "node:http";

const waiting = new Map();
let last = 0;

process.on("message", ({ number, decision }) => {
  const { resolve, reject } = waiting.get(number);
  waiting.delete(number);
  if (decision === "fail") reject(new Error("the test makes this work fail"));
  else resolve();
});
process.on("disconnect", () => process.exit());

subscribe("http.server.request.start", ({ request }) => {
  process.send({ point: "request", eventId: eventIdOf(request), rawHeaders: request.rawHeaders });
});

/** Waits after the effect, inside its transaction. */
export function beforeCommit(event) {
  return reach({ point: "before_commit", eventId: event.id });
}

// Waits after the commit, before the first byte of the answer.
const { end } = ServerResponse.prototype;
ServerResponse.prototype.end = function (...content) {
  const reached = reach({ point: "before_answer", eventId: eventIdOf(this.req) });
  reached.then(() => end.apply(this, content));
  return this;
};

/** Reports a point and waits for the test's decision. */
function reach(reached) {
  last += 1;
  const number = last;
  return new Promise((resolve, reject) => {
    waiting.set(number, { resolve, reject });
    process.send({ ...reached, number });
  });
}

function eventIdOf(request) {
  return request.headers["service-event-id"] ?? "";
}
