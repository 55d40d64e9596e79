import type { AddressInfo } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { findHttpHead } from "../load/http-connection.ts";
import { sharedNowMs } from "../measure/sample.ts";
import { answerJobs } from "../stack/jobs.ts";
import { Arrivals } from "./arrivals.ts";

let [arrivals, answer] = [new Arrivals(), ""];

/** A receiver that answers at once, with TLS and keep-alive and only as much HTTP as the events need. */
const jobs = {
  /** Listens with a certificate. Returns `host:port` for endpoints. */
  async listen(cert: string, key: string): Promise<string> {
    return listenOn(createServer({ cert, key, ALPNProtocols: ["http/1.1"] }, takeFrom));
  },
  /** Listens as `listen` does but never answers. */
  async hang(cert: string, key: string): Promise<string> {
    const server = createServer({ cert, key, ALPNProtocols: ["http/1.1"] }, (socket) => {
      socket.on("error", () => socket.destroy());
      socket.resume();
    });
    return listenOn(server);
  },
  /** Forgets earlier events. From now on answers with this status and counts the events of this run. */
  async expect(status: number, run: string): Promise<void> {
    answer = `HTTP/1.1 ${status} .\r\nContent-Length: 2\r\n\r\nok`;
    arrivals = new Arrivals(run);
  },
  /** Waits until `events` distinct events have arrived, or none for `quietMs` if it is given. */
  arrived: (events: number, quietMs?: number) => arrivals.quiet(events, quietMs ?? Infinity),
  tell: async () => arrivals.tell(),
};
export type ReceiverJobs = typeof jobs;

async function listenOn(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}

function takeFrom(socket: TLSSocket): void {
  let left: Buffer = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    left = left.length === 0 ? chunk : Buffer.concat([left, chunk]);
    for (;;) {
      const end = findHttpHead(left)?.end ?? Infinity;
      if (left.length < end) return;
      arrivals.add(left.toString("latin1", 0, end), sharedNowMs());
      socket.write(answer);
      left = left.subarray(end);
    }
  });
}

answerJobs(jobs);
