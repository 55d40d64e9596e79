import { type Requests, Workload } from "./workload.ts";

/** About the bytes of the bodies that the other sides answer with. */
const BODY_BYTES: Readonly<Record<Workload, number>> = {
  [Workload.Polls]: 123,
  [Workload.FirstPages]: 14_400,
  [Workload.ColdPages]: 14_400,
};

/** Asks the server that only answers for a body as long as those of a workload. */
export function bareAnswers(workload: Workload): Requests {
  const bytes = BODY_BYTES[workload];
  const request = Buffer.from(`GET /${bytes} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, "latin1");
  const exchange = {
    request,
    take({ body }: { body: Buffer }) {
      if (body.length !== bytes) throw new Error("an answer of another length");
    },
  };
  return { beforeTurn: async () => {}, next: () => exchange };
}
