import {
  DeleteDonationRequestSchema,
  DeletePlatformEventRequestSchema,
  ImportOpeningSchema,
  Platform,
  PlatformSchema,
  RecordPlatformEventRequestSchema,
} from "@activity/proto";
import { type DescMessage, getOption } from "@bufbuild/protobuf";
import { field as fieldOption } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { expect, it } from "vitest";
import { isImportPlatform, SERVICE_PLATFORM } from "./activity-values.ts";

const IMPORTED = acceptedPlatforms(ImportOpeningSchema);
const RECORDED = acceptedPlatforms(RecordPlatformEventRequestSchema);

it("accepts a deletion for every platform that can be recorded or imported. §2.3", () => {
  expect(acceptedPlatforms(DeletePlatformEventRequestSchema)).toEqual(RECORDED);
  expect(acceptedPlatforms(DeleteDonationRequestSchema)).toEqual([0, ...IMPORTED]);
});

it("imports or records every platform but the service. §2.3", () => {
  const all = PlatformSchema.values.map(({ number }) => number);
  const written = [Platform.UNSPECIFIED, SERVICE_PLATFORM, ...RECORDED, ...IMPORTED];
  expect(written.toSorted((a, b) => a - b)).toEqual(all.toSorted((a, b) => a - b));
  expect(all.filter(isImportPlatform)).toEqual(IMPORTED);
});

/** Lists the platforms that a request's rules accept, in order. */
function acceptedPlatforms({ name, field }: DescMessage): number[] {
  const rules = field.platform && getOption(field.platform, fieldOption).type;
  if (rules?.case !== "enum") throw new Error(`${name} accepts every platform`);
  return rules.value.in.toSorted((a, b) => a - b);
}
