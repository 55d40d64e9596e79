import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { makeSelfSigned } from "../../../dev-stack/src/self-signed.ts";
import { findHttpHead } from "../../load/http-head.ts";
import { answerJobs } from "../../load/jobs.ts";
import { sharedNowMs } from "../../measure/shared-clock.ts";
import { Arrivals, type Arrived } from "./arrivals.ts";

/** Work for the receiver. */
export type ReceiverJob =
  /** Forgets what came, and counts the events of this run from now on. Tells where it listens. */
  | { readonly do: "expect"; readonly run: string }
  /** Waits until `events` different ones have come, or none for `quietMs`; tells what came. */
  | { readonly do: "await"; readonly events: number; readonly quietMs: number };

/** Where the receiver listens, and what has come. */
export type ReceiverAnswer = {
  /** `host:port`, as endpoints name it. */
  readonly target: string;
  /** Its certificate, which nobody else vouches for (PEM). */
  readonly ca: string;
  readonly arrived: Arrived;
};

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

const { cert, key } = makeSelfSigned(Date.now());
let arrivals = new Arrivals("");

/** Answers at once: TLS and keep-alive like any receiver, and no more of HTTP than the events need. */
const server = createServer({ cert, key, ALPNProtocols: ["http/1.1"] }, (socket) => {
  let received: Buffer = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    received = takeRequests(
      received.length === 0 ? chunk : Buffer.concat([received, chunk]),
      socket,
    );
  });
});
const listening = new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

/** Takes the requests that are whole, and returns what is left. */
function takeRequests(bytes: Buffer, socket: TLSSocket): Buffer {
  for (let left = bytes; ; ) {
    const head = findHttpHead(left);
    if (head === undefined) return left;
    const length = head.headLength + head.bodyLength;
    if (left.length < length) return left;
    arrivals.add(left.toString("latin1", head.headLength, length), sharedNowMs());
    socket.write(ANSWER);
    left = left.subarray(length);
  }
}

async function runJob(job: ReceiverJob): Promise<ReceiverAnswer> {
  await listening;
  if (job.do === "expect") arrivals = new Arrivals(job.run);
  else await arrivals.quiet(job.events, job.quietMs);
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { target: `127.0.0.1:${port}`, ca: cert, arrived: arrivals.tell() };
}

answerJobs(runJob);
