import type { Interceptor } from "@connectrpc/connect";
import { WorkflowClient, type WorkflowClientInterceptor } from "@temporalio/client";
import { startRelay } from "../../../workflows/src/relay/relay.ts";
import { FaultPoint } from "./fault-point.ts";
import { config, connectDispatch, connectEngine, log } from "./run-environment.ts";

/** Runs a relay without a worker, for tests that kill only one of them; `FAULT_POINT` makes it fail once. */
const ON_THE_WAY_MS = 20;
let fault = process.env.FAULT_POINT;

const faultOfMark: Interceptor = (next) => async (request) => {
  const isMark = request.method.name === "MarkHandedOver";
  if (isMark && fault === FaultPoint.StartedNotMarked) die();
  // The start was faster than the death on its way.
  if (isMark && fault === FaultPoint.StartUnanswered) die();
  const answer = await next(request);
  if (isMark && fault === FaultPoint.MarkedThenKilled) die();
  if (isMark && fault === FaultPoint.MarkAnswerLost) loseAnswer();
  return answer;
};

const faultOfStart: WorkflowClientInterceptor = {
  async start(input, next) {
    if (fault === FaultPoint.StartUnanswered) setTimeout(die, Math.random() * ON_THE_WAY_MS);
    const answer = await next(input);
    if (fault === FaultPoint.StartAnswerLost) loseAnswer();
    return answer;
  },
};

const client = new WorkflowClient({
  connection: await connectEngine(),
  namespace: config.namespace,
  interceptors: [faultOfStart],
});
startRelay(connectDispatch(faultOfMark), client, log);
log.info("relay runs");

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

function loseAnswer(): never {
  fault = undefined;
  throw new Error("the answer was lost");
}
