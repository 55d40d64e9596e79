import { ImportDonationsResponseSchema } from "@activity/proto";
import { create, toBinary } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { importFrames, takeAnswers } from "./import-frames.ts";

it("sends the opening, then messages of a thousand rows and what is left", () => {
  expect(importFrames("0".repeat(15), 2_500)).toHaveLength(1 + 3);
});

it("takes answers that come in pieces", () => {
  const bytes = toBinary(
    ImportDonationsResponseSchema,
    create(ImportDonationsResponseSchema, { stored: 1_000n }),
  );
  const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, bytes.length]), bytes]);
  const stored: bigint[] = [];
  let left: Buffer = Buffer.alloc(0);
  for (const piece of [frame.subarray(0, 3), Buffer.concat([frame.subarray(3), frame])]) {
    left = takeAnswers(Buffer.concat([left, piece]), (answer) => stored.push(answer.stored));
  }
  expect([stored, left.length]).toEqual([[1_000n, 1_000n], 0]);
});
