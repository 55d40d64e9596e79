import { expect, it } from "vitest";
import { fullestOf, keyspaceIdOf } from "./shards.ts";

/** Some vectors of Vitess v0.24.1, go/vt/vtgate/vindexes/xxhash_test.go. */
it.each([
  ["testaverylongvaluetomakesurethisworks", "81d8c38e0d850e6a"],
  ["1", "d46405367612b4b7"],
  ["18446744073709551615", "477cfa8d6d8f1f8d"],
])("gives %j the keyspace id that Vitess gives it", (value, id) => {
  expect(keyspaceIdOf(value).toString("hex")).toBe(id);
});

it("finds the key range by the first byte", () => {
  const spread = new Float64Array(256);
  for (const byte of [0x00, 0x3f, 0x40, 0x7f, 0x80, 0xff]) spread[byte] = byte + 1;
  expect([1, 2, 4].map((shards) => fullestOf(spread, shards))).toEqual([643, 385, 256]);
});
