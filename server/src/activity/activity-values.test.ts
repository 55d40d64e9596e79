import * as proto from "@activity/proto";
import { expect, it } from "vitest";
import {
  ActivityType,
  DIAMOND_PLATFORM,
  isImportPlatform,
  SERVICE_PLATFORM,
  Unit,
} from "./activity-values.ts";

const withoutUnspecified = (values: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === 0 ? [] : [[name.toLowerCase(), value]],
    ),
  );

it("stores the numbers that the proto reads", () => {
  expect(withoutUnspecified(ActivityType)).toEqual(withoutUnspecified(proto.ActivityType));
  expect(withoutUnspecified(Unit)).toEqual(withoutUnspecified(proto.Unit));
  expect(SERVICE_PLATFORM).toBe(proto.Platform.SERVICE);
  expect(DIAMOND_PLATFORM).toBe(proto.Platform.LIVE_PLATFORM_4);
});

it("imports from the five import sources only", () => {
  const names = Object.entries(proto.Platform).filter(([, number]) => isImportPlatform(number));
  expect(names.map(([name]) => name)).toEqual([
    "IMPORT_SOURCE_1",
    "IMPORT_SOURCE_2",
    "IMPORT_SOURCE_3",
    "IMPORT_SOURCE_4",
    "CSV",
  ]);
});
