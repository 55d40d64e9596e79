import { createLog } from "@activity/server";
import { startDeliveries } from "@activity/workflows";
import type { Transport } from "@connectrpc/connect";
import { readProcessConfig } from "../../../workflows/src/config.ts";
import { createCoreTransport } from "../../../workflows/src/core-transport.ts";
import { FaultPoint } from "./fault-point.ts";

/** Runs deliveries as `workflows/src/main.ts` does, but for a fault at `FAULT_POINT`, once. */
const ON_THE_WAY_MS = 20;
let fault = process.env.FAULT_POINT;

function beforeCall(method: string): void {
  const isCompletion = method === "CompleteRetries";
  if (method === "RecordAttempts" && fault === FaultPoint.MadeNotRecorded) die();
  if (isCompletion && fault === FaultPoint.BegunNotCompleted) die();
  // The begin was faster than the death on its way.
  if (isCompletion && fault === FaultPoint.BeginUnanswered) die();
}

function afterCall(method: string, answer: object): void {
  if (method === "RecordAttempts") {
    if (fault === FaultPoint.RecordedThenKilled) die();
    if (fault === FaultPoint.RecordAnswerLost) loseAnswer();
  }
  if ("retries" in answer && Array.isArray(answer.retries) && answer.retries.length > 0) {
    if (fault === FaultPoint.ClaimedNotBegun) die();
    if (fault === FaultPoint.BeginUnanswered) setTimeout(die, Math.random() * ON_THE_WAY_MS);
  }
  if (method === "CompleteRetries") {
    if (fault === FaultPoint.CompletedThenKilled) die();
    if (fault === FaultPoint.CompletionAnswerLost) loseAnswer();
  }
}

const { delivery, core } = readProcessConfig(process.env);
const { transport } = createCoreTransport(core);
const faulty: Transport = {
  stream: transport.stream,
  async unary(method, ...rest) {
    beforeCall(method.name);
    const answer = await transport.unary(method, ...rest);
    afterCall(method.name, answer.message);
    return answer;
  },
};
const log = createLog((line) => process.stdout.write(line));
startDeliveries({ config: delivery, core: faulty, log });

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

function loseAnswer(): never {
  fault = undefined;
  throw new Error("the answer was lost");
}
