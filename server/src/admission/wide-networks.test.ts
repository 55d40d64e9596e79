import { setImmediate as nextTurn } from "node:timers/promises";
import { clientBucket } from "@activity/runtime/client-bucket";
import { expect, it } from "vitest";
import type { Admission } from "./admission.ts";
import { limitWideNetworks, NETWORK_LIMIT } from "./wide-networks.ts";

function createLimited() {
  let nowMs = 0;
  const admitting: Admission = {
    ready: Promise.resolve(),
    admit: async () => ({ kind: "client_admitted" }),
    close: async () => {},
  };
  const { admit } = limitWideNetworks(admitting, () => nowMs);
  return {
    isAdmitted: async (address: string) =>
      (await admit({ client: clientBucket(address) })).kind === "client_admitted",
    pass: (milliseconds: number) => {
      nowMs += milliseconds;
    },
  };
}

it("ADR 0030: refuses every /64 of a /48 over its limit after a delay, until the minute ends", async () => {
  const { isAdmitted, pass } = createLimited();
  for (let count = 0; count < NETWORK_LIMIT; count++) {
    expect(await isAdmitted(`2001:db8:1:${(count % 0xffff).toString(16)}::1`)).toBe(true);
  }
  const refusal = isAdmitted("2001:db8:1:ffff::1");
  expect(await Promise.race([refusal, nextTurn("delayed")])).toBe("delayed");
  expect(await refusal).toBe(false);
  expect(await isAdmitted("2001:db8:2::1")).toBe(true);
  pass(59_999);
  expect(await isAdmitted("2001:db8:1:ffff::1")).toBe(false);
  pass(1);
  expect(await isAdmitted("2001:db8:1:ffff::1")).toBe(true);
});

it("ADR 0030: does not limit IPv4 networks", async () => {
  const { isAdmitted } = createLimited();
  for (let count = 0; count <= NETWORK_LIMIT; count++) {
    expect(await isAdmitted("192.0.2.1")).toBe(true);
  }
});
