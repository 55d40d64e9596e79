import { toJson } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { afterEach, expect, it } from "vitest";
import { timestampFromLocal } from "./local-time.ts";

const usual = process.env.TZ;
afterEach(() => {
  if (usual === undefined) delete process.env.TZ;
  else process.env.TZ = usual;
});

it.each([
  ["Pacific/Honolulu", "9999-12-31T23:59", "9999-12-31T23:59:59.999Z"],
  ["Asia/Tokyo", "9999-12-31T23:59", "9999-12-31T14:59:00Z"],
  ["Asia/Tokyo", "0001-01-01T00:00", "0001-01-01T00:00:00Z"],
])("keeps the first and the last time in the range of the server: %s, %s", (zone, local, utc) => {
  process.env.TZ = zone;
  const timestamp = timestampFromLocal(local) ?? expect.unreachable();
  expect(toJson(TimestampSchema, timestamp)).toBe(utc);
});
