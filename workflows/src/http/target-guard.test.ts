import { expect, it } from "vitest";
import { resolveTarget } from "./target-guard.ts";

it("tries at most 16 of a name's addresses", async () => {
  const addresses = Array.from({ length: 200 }, (_, host) => `8.8.8.${host}`);
  const rules = { resolve: async () => addresses, allowedLoopback: undefined };
  const target = await resolveTarget("https://many.example/", rules);
  expect(target).toMatchObject({ kind: "safe", addresses: { length: 16 } });
});
