import { fork } from "node:child_process";
import type { Bench } from "../run/bench.ts";

type Jobs = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;
/** A call of a job. The caller's types check its arguments. */
type Call = { readonly id: number; readonly name: string; readonly args: never[] };
type Answer = { readonly id: number; readonly result?: unknown; readonly failure?: string };

/** Runs, in a worker process, the jobs that the bench calls by name. */
export function answerJobs(jobs: Jobs): void {
  process.on("message", async ({ id, name, args }: Call) => {
    try {
      process.send?.({ id, result: await jobs[name]?.(...args) });
    } catch (error) {
      process.send?.({ id, failure: error instanceof Error ? error.message : String(error) });
    }
  });
  process.once("disconnect", () => process.exit());
}

/** A worker process of the bench. Its functions are called like local ones. */
export type Worker<Called> = { readonly pid: number; readonly jobs: Called; stop(): void };

/** Starts a worker process with a file that calls `answerJobs`. It ends with the bench at the latest. */
export function startWorker<Called extends Jobs>(
  { closeLater }: Bench,
  file: URL,
  flags: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Worker<Called> {
  const execArgv = [...process.execArgv, ...flags];
  const child = fork(file, [], { execArgv, env: { ...process.env, ...more } });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let next = 0;
  child.on("message", ({ id, result, failure }: Answer) => {
    if (failure === undefined) waiting.get(id)?.resolve(result);
    else waiting.get(id)?.reject(new Error(failure));
    waiting.delete(id);
  });
  child.once("exit", () => {
    for (const { reject } of waiting.values()) reject(new Error("a worker of the bench ended"));
  });
  const call = (name: string, ...args: never[]) => {
    const job = Promise.withResolvers<unknown>();
    waiting.set(++next, job);
    child.send({ id: next, name, args } satisfies Call, (error) => error && job.reject(error));
    return job.promise;
  };
  const jobOf = (_: object, name: string | symbol) => call.bind(undefined, String(name));
  const jobs = new Proxy({}, { get: jobOf });
  const stop = () => child.disconnect();
  closeLater(stop);
  return { pid: child.pid ?? 0, jobs: jobs as Called, stop }; // the worker has these functions
}
