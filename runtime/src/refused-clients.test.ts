import { expect, it } from "vitest";
import { clientBucket } from "./client-bucket.ts";
import { createRefusedClients } from "./refused-clients.ts";

it("ADR 0030: a client is refused before the time that was noted last", () => {
  let nowMs = 0;
  const refused = createRefusedClients(() => nowMs);
  const [flood, other] = [clientBucket("192.0.2.1"), clientBucket("192.0.2.2")];
  expect(refused.untilMs(flood)).toBeUndefined();
  refused.note(flood, 60_000);
  refused.note(other, 70_000);
  refused.note(flood, 80_000);
  expect([refused.untilMs(flood), refused.untilMs(other)]).toEqual([80_000, 70_000]);
  nowMs = 70_000;
  expect([refused.untilMs(flood), refused.untilMs(other)]).toEqual([80_000, undefined]);
  nowMs = 80_000;
  expect(refused.untilMs(flood)).toBeUndefined();
});
