import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { AdmissionRequest, AdmissionResult } from "./admission.ts";
import { refuseEarly } from "./known-refusals.ts";

const from = (client: string): AdmissionRequest => ({ client: Buffer.from(client) });

/** Creates an admission whose shared store answers when the test says so. */
function createManualStore() {
  const asked: { client: string; answer(result: AdmissionResult): void }[] = [];
  const clock = { nowMs: 0 };
  const admit = refuseEarly(
    ({ client }) => new Promise((answer) => asked.push({ client: `${client}`, answer })),
    () => clock.nowMs,
  );
  return { admit, asked, clock };
}

const ADMITTED: AdmissionResult = { kind: "client_admitted" };
const refusedUntil = (untilMs: number): AdmissionResult => ({ kind: "client_refused", untilMs });

describe("§8 a client that is known to be over its limit", () => {
  it("is refused without a count, until its window has capacity again, and affects no other client", async () => {
    const { admit, asked, clock } = createManualStore();
    const first = admit(from("flood"));
    asked[0]?.answer(refusedUntil(60_000));
    expect(await first).toEqual(refusedUntil(60_000));
    clock.nowMs = 59_999;
    expect(await admit(from("flood"))).toMatchObject({ kind: "client_refused" });
    void admit(from("other"));
    expect(asked.map(({ client }) => client)).toEqual(["flood", "other"]);
    clock.nowMs = 60_000;
    const again = admit(from("flood"));
    asked[2]?.answer(ADMITTED);
    expect(await again).toEqual(ADMITTED);
  });

  it("is refused without a count when as many of its requests wait as the limit admits", async () => {
    const { admit, asked } = createManualStore();
    const waiting = Array.from({ length: 300 }, () => admit(from("flood")));
    expect(await admit(from("flood"))).toMatchObject({ kind: "client_refused" });
    expect(asked).toHaveLength(300);
    for (const { answer } of asked) answer(ADMITTED);
    await Promise.all(waiting);
    void admit(from("flood"));
    expect(asked).toHaveLength(301);
  });

  it("ADR 0030: waits for each refusal without a count", async () => {
    const { admit, asked } = createManualStore();
    const waiting = Array.from({ length: 300 }, () => admit(from("flood")));
    const refusal = admit(from("flood"));
    expect(await Promise.race([refusal, nextTurn("none yet")])).toBe("none yet");
    asked[0]?.answer(refusedUntil(60_000));
    await waiting[0];
    expect(await Promise.race([admit(from("flood")), nextTurn("none yet")])).toBe("none yet");
    await refusal;
  });
});
