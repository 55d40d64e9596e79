import { type ChildProcess, fork } from "node:child_process";

type Reply<Result> = { readonly result: Result } | { readonly failure: string };

/** In a worker process: answers the parent's jobs with `run`, one after the other. */
export function answerJobs<Job, Result>(run: (job: Job) => Promise<Result>): void {
  process.on("message", async (job: Job) => {
    try {
      process.send?.({ result: await run(job) });
    } catch (error) {
      process.send?.({ failure: error instanceof Error ? error.message : String(error) });
    }
  });
  process.once("disconnect", () => process.exit());
}

/** A worker process of the bench. */
export type Worker<Job, Result> = {
  readonly pid: number;
  /** Runs one job; rejects with what the worker says went wrong. */
  run(job: Job): Promise<Result>;
  stop(): void;
};

/** Starts a worker process on a file that calls `answerJobs`. */
export function startWorker<Job extends object, Result>(
  file: string,
  execArgv: readonly string[] = [],
): Worker<Job, Result> {
  const child = fork(file, [], { execArgv: [...process.execArgv, ...execArgv] });
  return {
    pid: child.pid ?? 0,
    run: (job) => runJob(child, job),
    stop: () => child.disconnect(),
  };
}

function runJob<Job extends object, Result>(child: ChildProcess, job: Job): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new Error("a worker of the bench ended"));
    child.once("exit", end);
    child.once("message", (reply: Reply<Result>) => {
      child.off("exit", end);
      if ("failure" in reply) reject(new Error(reply.failure));
      else resolve(reply.result);
    });
    child.send(job, (error) => error && reject(error));
  });
}
