import {
  type ImportDonationsRequest,
  ImportDonationsRequestSchema,
  type ImportDonationsResponse,
  ImportDonationsResponseSchema,
  Platform,
} from "@activity/proto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";

/** A message in gRPC: whether it is compressed, its length, its bytes. */
const PREFIX_BYTES = 5;
/** What the core takes at once. */
const ROWS_A_MESSAGE = 1_000;
/** 2019-01-01T00:00:00Z, and one row a minute from then on. */
const FIRST_SECONDS = 1_546_300_800;
const SECONDS_BETWEEN = 60;

/** Makes the messages of an import of `rows` rows, the opening first. */
export function importFrames(accountId: string, rows: number): Buffer[] {
  const opening = create(ImportDonationsRequestSchema, {
    step: { case: "opening", value: { accountId, platform: Platform.CSV } },
  });
  const frames = [frameOf(opening)];
  for (let first = 0; first < rows; first += ROWS_A_MESSAGE) {
    const count = Math.min(ROWS_A_MESSAGE, rows - first);
    const some = Array.from({ length: count }, (_, place) => rowAt(first + place));
    const value = { rows: some };
    frames.push(frameOf(create(ImportDonationsRequestSchema, { step: { case: "rows", value } })));
  }
  return frames;
}

/** Takes the messages that are whole off some bytes, and returns what is left. */
export function takeAnswers(
  bytes: Buffer,
  take: (answer: ImportDonationsResponse) => void,
): Buffer {
  let left = bytes;
  while (left.length >= PREFIX_BYTES) {
    const end = PREFIX_BYTES + left.readUInt32BE(1);
    if (left.length < end) break;
    take(fromBinary(ImportDonationsResponseSchema, left.subarray(PREFIX_BYTES, end)));
    left = left.subarray(end);
  }
  return left;
}

function rowAt(index: number) {
  return {
    externalId: `row-${index}`,
    amountCents: BigInt(100 + (index % 9_900)),
    currency: "eur",
    donorName: `Supporter ${index % 5_000}`,
    message: `Thank you for the stream, number ${index}!`,
    donatedAt: { seconds: BigInt(FIRST_SECONDS + index * SECONDS_BETWEEN), nanos: 0 },
  };
}

function frameOf(message: ImportDonationsRequest): Buffer {
  const bytes = toBinary(ImportDonationsRequestSchema, message);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}
