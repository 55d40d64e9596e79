import {
  Platform,
  ImportDonationsRequestSchema as Request,
  ImportDonationsResponseSchema as Response,
} from "@activity/proto";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { secondsSince, sharedNowMs } from "../measure/sample.ts";
import { answerJobs } from "../stack/jobs.ts";

const PATH = "/activity.ingest.v1.ImportService/ImportDonations";
/** The most messages without an answer, as in `npm run import`. With four, the core always has a next message. */
const MAX_UNANSWERED = 4;
/** The core's limit of rows in a message. */
const ROWS_A_MESSAGE = 1_000;
/** The times of the rows. They begin at 2019-01-01T00:00:00Z, with one row per minute. */
const [FIRST_SECONDS, SECONDS_BETWEEN] = [1_546_300_800, 60];

const jobs = {
  /** Imports rows in one call with prepared messages. Returns the rows per second. */
  async importRows(port: number, credential: string, accountId: string, rows: number) {
    const messages = messagesOf(accountId, rows);
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${credential}`);
    await new Promise<void>((resolve, reject) => {
      client.waitForReady(Infinity, (error) => (error ? reject(error) : resolve()));
    });
    const startedMs = sharedNowMs();
    const stored = await send(client, messages, metadata);
    const perSecond = rows / secondsSince(startedMs);
    client.close();
    if (stored !== rows) throw new Error(`${stored} of ${rows} rows were stored`);
    return perSecond;
  },
};
export type ImportJobs = typeof jobs;

/** Keeps `MAX_UNANSWERED` messages in flight. Returns how many rows the core stored. */
async function send(client: Client, messages: readonly Buffer[], metadata: Metadata) {
  const asIs = (bytes: Buffer) => bytes;
  const read = (bytes: Buffer) => fromBinary(Response, bytes);
  const call = client.makeBidiStreamRequest(PATH, asIs, read, metadata);
  let stored = 0;
  // Begins at -1, because the first message opens the import and gets no answer.
  let unanswered = -1;
  const left = messages.values();
  const sendMore = () => {
    for (; unanswered < MAX_UNANSWERED; unanswered++) {
      const { value, done } = left.next();
      if (done) return call.end();
      call.write(value);
    }
    return undefined;
  };
  sendMore();
  for await (const answer of call as AsyncIterable<ReturnType<typeof read>>) {
    unanswered -= 1;
    stored = Number(answer.stored);
    sendMore();
  }
  return stored;
}

function messagesOf(accountId: string, rows: number): Buffer[] {
  const bytesOf = (step: MessageInitShape<typeof Request>["step"] & object) =>
    Buffer.from(toBinary(Request, create(Request, { step })));
  const messages = [bytesOf({ case: "opening", value: { accountId, platform: Platform.CSV } })];
  for (let first = 0; first < rows; first += ROWS_A_MESSAGE) {
    const length = Math.min(ROWS_A_MESSAGE, rows - first);
    const some = Array.from({ length }, (_, place) => rowAt(first + place));
    messages.push(bytesOf({ case: "rows", value: { rows: some } }));
  }
  return messages;
}

function rowAt(index: number) {
  return {
    ...{ externalId: `row-${index}`, amountCents: BigInt(100 + (index % 9_900)), currency: "eur" },
    donorName: `Supporter ${index % 5_000}`,
    message: `Thank you for the stream, number ${index}!`,
    donatedAt: { seconds: BigInt(FIRST_SECONDS + index * SECONDS_BETWEEN), nanos: 0 },
  };
}

answerJobs(jobs);
