import { expect, it } from "vitest";
import { keyspaceIdOf, shardOf } from "./keyspace-id.ts";

/** The vectors of Vitess v0.24.1, go/vt/vtgate/vindexes/xxhash_test.go. */
it.each([
  ["test1", "d01ab7e4d6978f0b"],
  ["test2", "87eb11714c0a0e89"],
  ["testaverylongvaluetomakesurethisworks", "81d8c38e0d850e6a"],
  ["1", "d46405367612b4b7"],
  ["", "99e9d85137db46ef"],
  ["-1", "d8e2a6a7c8c7623d"],
  ["18446744073709551615", "477cfa8d6d8f1f8d"],
  ["9223372036854775807", "b37eb01f7bffafd8"],
  ["-9223372036854775808", "102c27ddb26a609e"],
])("gives %j the keyspace id that Vitess gives it", (value, id) => {
  expect(keyspaceIdOf(value).toString("hex")).toBe(id);
});

it("finds the key range by the first byte", () => {
  expect([0x00, 0x3f, 0x40, 0x7f, 0x80, 0xff].map((byte) => shardOf(byte, 4))).toEqual([
    0, 0, 1, 1, 2, 3,
  ]);
});
