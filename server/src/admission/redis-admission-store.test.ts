import { clientBucket } from "@activity/runtime/client-bucket";
import { expect, it } from "vitest";
import { accountBucket } from "./account-bucket.ts";
import { windowKey } from "./redis-admission-store.ts";

it("a window's key has exactly one Redis hash tag, even for an address with brace bytes", () => {
  const braces = `123.125.${"z".charCodeAt(0)}.125`; // the bytes of "{}z}"
  expect(windowKey(clientBucket(braces))).toBe("{637b7d7a7d}");
  expect(windowKey(clientBucket("2001:db8:7b7d::1"))).toBe("{6320010db87b7d0000}");
  expect(windowKey(accountBucket("ab"))).toBe("{616162}");
});
