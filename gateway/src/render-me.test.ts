import { GetMeResponseSchema } from "@activity/proto";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { renderMe } from "./render-me.ts";

const meWith = (seconds: bigint, nanos: number) =>
  create(GetMeResponseSchema, {
    me: {
      id: "a",
      displayName: "💜",
      key: { prefix: "act_live_1", expiresAt: { seconds, nanos } },
    },
  });

it.each([
  [-62_135_596_800n, 0, "0001-01-01T00:00:00.000000Z"],
  [-1n, 1_000, "1969-12-31T23:59:59.000001Z"],
  [951_782_400n, 120_000_999, "2000-02-29T00:00:00.120000Z"],
  [253_402_300_799n, 999_999_000, "9999-12-31T23:59:59.999999Z"],
])("§2.5 a key's end at %d s and %d ns is written as %3$s", (seconds, nanos, text) => {
  expect(JSON.parse(renderMe(meWith(seconds, nanos))).data.key.expires_at).toBe(text);
});

it("§2.5 refuses a message that lacks a field instead of leaving it out", () => {
  expect(() => renderMe(create(GetMeResponseSchema))).toThrow("lacks a field");
});
