import { expect, it } from "vitest";
import type { Admission } from "./admission.ts";
import { checkCountedRequests } from "./counted-requests.ts";

it("refuses a counted request without a key, and looks nothing up, ADR 0052", async () => {
  const lookedUp: unknown[] = [];
  const counting: Admission = {
    ready: Promise.resolve(),
    admit: () => Promise.reject(new Error("it was counted before")),
    close: () => Promise.resolve(),
  };
  const admission = checkCountedRequests(counting, async ({ keyHash }) => {
    lookedUp.push(keyHash);
    return undefined;
  });
  const request = { client: Buffer.from("client"), wasCounted: true };
  expect(await admission.admit(request)).toEqual({ kind: "unknown_key" });
  expect(lookedUp).toEqual([]);
  await admission.admit({ ...request, keyHash: Buffer.from("key") });
  expect(lookedUp).toEqual([Buffer.from("key")]);
});
