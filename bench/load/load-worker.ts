import { Durations } from "../measure/sample.ts";
import { HttpConnection } from "./http-connection.ts";
import { answerJobs } from "./jobs.ts";
import { prepareTargets, type Target } from "./targets.ts";

/** Load on one side over HTTP. */
export type LoadJob = {
  readonly side: string;
  readonly port: number;
  readonly accounts: number;
  readonly concurrency: number;
  readonly seconds: number;
};

type Prepared = { readonly targets: readonly Target[]; next: number };

const preparedSides = new Map<string, Prepared>();

/** Runs a closed loop: each connection sends its next request when the last one is answered. */
async function runLoad({ side, port, accounts, concurrency, seconds }: LoadJob) {
  const prepared = preparedSides.get(side) ?? {
    targets: await prepareTargets(port, accounts, concurrency),
    next: 0,
  };
  preparedSides.set(side, prepared);
  const connections = Array.from({ length: concurrency }, () => new HttpConnection(port));
  const durations = new Durations();
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  const work = async (connection: HttpConnection) => {
    for (let now = performance.now(); now < until; ) {
      const target = prepared.targets[prepared.next++ % prepared.targets.length];
      if (target === undefined) throw new Error("there is nothing to ask for");
      const { status, body } = await connection.send(target.request);
      if (status !== 200) throw new Error(`answered with ${status}: ${body.toString()}`);
      if (body.length !== target.bodyLength) throw new Error("an answer's length has changed");
      const end = performance.now();
      durations.add(end - now);
      now = end;
    }
  };
  try {
    await Promise.all(connections.map(work));
  } finally {
    for (const connection of connections) connection.close();
  }
  return durations.toSample((performance.now() - startedAt) / 1000);
}

answerJobs(runLoad);
