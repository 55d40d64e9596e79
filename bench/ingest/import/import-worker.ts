import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { answerJobs } from "../../load/jobs.ts";
import { importFrames, takeAnswers } from "./import-frames.ts";

/** An import through the core's port. */
export type ImportJob = {
  readonly port: number;
  readonly credential: string;
  readonly accountId: string;
  readonly rows: number;
};

/** How long the call took; its messages were made before. */
export type ImportAnswer = { readonly seconds: number };

const PATH = "/activity.ingest.v1.ImportService/ImportDonations";
/** As `npm run import` has it: enough that the core never waits. */
const MAX_UNANSWERED = 4;

async function runImport(job: ImportJob): Promise<ImportAnswer> {
  const frames = importFrames(job.accountId, job.rows);
  const session = connect(`http://127.0.0.1:${job.port}`);
  try {
    await once(session, "connect");
    const startedMs = performance.now();
    const stored = await callImport(session, frames, job.credential);
    const seconds = (performance.now() - startedMs) / 1000;
    if (stored !== job.rows) throw new Error(`${stored} of ${job.rows} rows were stored`);
    return { seconds };
  } finally {
    session.close();
  }
}

/** Sends messages as fast as they are answered; returns how many rows the core says it has stored. */
function callImport(
  session: ClientHttp2Session,
  [opening, ...batches]: readonly Buffer[],
  credential: string,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const stream = session.request({
    ":method": "POST",
    ":path": PATH,
    "content-type": "application/grpc+proto",
    te: "trailers",
    authorization: `Bearer ${credential}`,
  });
  let sent = 0;
  let answered = 0;
  let stored = 0;
  let received: Buffer = Buffer.alloc(0);
  const send = () => {
    while (sent < batches.length && sent - answered < MAX_UNANSWERED) stream.write(batches[sent++]);
    if (sent === batches.length && !stream.writableEnded) stream.end();
  };
  stream.on("data", (chunk: Buffer) => {
    received = takeAnswers(Buffer.concat([received, chunk]), (answer) => {
      answered += 1;
      stored = Number(answer.stored);
    });
    send();
  });
  let status: string | undefined;
  const readStatus = (headers: Readonly<Record<string, unknown>>) => {
    // A call that fails at once says so in its only headers.
    if (headers["grpc-status"] === undefined) return;
    status = `${headers["grpc-status"]} ${headers["grpc-message"] ?? ""}`.trim();
  };
  stream.on("response", readStatus);
  stream.on("trailers", readStatus);
  stream.on("error", reject);
  stream.on("end", () => {
    if (status === "0") resolve(stored);
    else reject(new Error(`the import ended with the gRPC status ${status}`));
  });
  stream.write(opening);
  send();
  return promise;
}

answerJobs(runImport);
