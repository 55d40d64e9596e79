import { DispatchService, EndpointService, WebhookEventKind } from "@activity/proto";
import { PROCESS_TIMING } from "@activity/runtime/timing";
import type { Client } from "@connectrpc/connect";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import type { Worker } from "@temporalio/worker";
import { cacheFolder } from "../../dev-stack/src/cache-folder.ts";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { findTimeSkippingServer } from "../../dev-stack/src/temporal-program.ts";
import { createRecorder } from "../../workflows/src/attempt/recorder.ts";
import { runFromProto } from "../../workflows/src/attempt/run-key.ts";
import type { Run } from "../../workflows/src/common/run.ts";
import { createSender } from "../../workflows/src/http/sender.ts";
import { installTemporalRuntime } from "../../workflows/src/temporal/runtime.ts";
import { bundleWorkflows, createWorker } from "../../workflows/src/temporal/worker.ts";
import { createActivities } from "../../workflows/src/workflow/activities.ts";
import {
  type AttemptSlots,
  createAttemptSlots,
  RETRY_SLOTS,
} from "../../workflows/src/workflow/attempt-slots.ts";
import type { Activities } from "../../workflows/src/workflow/contract.ts";
import { createAccount } from "../harness/builders.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { type Behaviour, type Receiver, startReceiver } from "./harness-receiver.ts";
import { sharedCertificates } from "./harness-receiver-certificates.ts";

/** The core and the workflows, on a Temporal whose clock skips what nobody waits for. */
export type TimeSkippingStack = {
  readonly stack: TestStack;
  readonly receiver: Receiver;
  readonly environment: TestWorkflowEnvironment;
  /** The slots of its workers' retries. */
  readonly slots: AttemptSlots;
  readonly dispatch: Client<typeof DispatchService>;
  /** Creates an account with an endpoint at the receiver. */
  createEndpoint(): Promise<{ accountId: string; endpointId: string; secret: string }>;
  /** Makes an endpoint's secret one that the core cannot decrypt; done twice, it can again. */
  swapSecret(endpointId: string): Promise<unknown>;
  /** Makes it as if a delivery's last attempt had ended 20 seconds before it did. */
  pass20Seconds(deliveryId: string): Promise<unknown>;
  /** Claims first attempts, as a dispatcher does, and returns the delivery's, if it waits. */
  claim(deliveryId: string): Promise<Run[]>;
  /** Creates a worker of `TASK_QUEUE` whose activities are the product's, each changed by `change`. */
  worker(change?: (activities: Activities) => Partial<Activities>): Promise<Worker>;
  stop(): Promise<void>;
};

/** Where the workers of these tests look for work. */
export const TASK_QUEUE = "time-skipping";

/** Starts everything but a worker. */
export async function startTimeSkippingStack(behaviour: Behaviour): Promise<TimeSkippingStack> {
  const quiet = () => undefined;
  const log = { info: quiet, warn: quiet, error: quiet };
  installTemporalRuntime(log, undefined);
  const certificates = sharedCertificates();
  const receiver = await startReceiver(behaviour, certificates.good);
  const target = `127.0.0.1:${receiver.port}`;
  const stack = await startTestStack({
    env: { WEBHOOK_ALLOWED_TARGETS: target, ALLOW_UNSAFE_TARGETS: "development" },
  });
  const path = await findTimeSkippingServer(
    process.env,
    cacheFolder(process.env),
    createProgress(),
  );
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: "existing-path", path } },
  });
  const bundle = await bundleWorkflows();
  const dispatch = stack.client(DispatchService);
  const sender = createSender({
    extraCa: certificates.ca,
    allowedLoopback: new Set([target]),
  });
  const recorder = createRecorder(dispatch, log, PROCESS_TIMING);
  const slots = createAttemptSlots({ ...RETRY_SLOTS, nowMs: () => performance.now() });
  return {
    stack,
    receiver,
    environment,
    slots,
    dispatch,
    async createEndpoint() {
      const accountId = await createAccount(stack);
      const kinds = { kinds: [WebhookEventKind.DONATION_CREATED] };
      const asked = { accountId, url: `https://${target}/hook`, kinds };
      const { endpoint, secret } = await stack.client(EndpointService).createEndpoint(asked);
      return { accountId, endpointId: endpoint?.id ?? "", secret };
    },
    swapSecret: (endpointId) =>
      stack.database.query("UPDATE endpoint SET secret = REVERSE(secret) WHERE id = ?", [
        endpointId,
      ]),
    pass20Seconds: (deliveryId) =>
      stack.database.query(
        `UPDATE delivery d JOIN delivery_attempt a ON a.account_no = d.account_no AND a.delivery_id = d.id
         SET d.next_attempt_at = d.next_attempt_at - 20000000, a.started_at = a.started_at - 20000000
         WHERE d.id = ?`,
        [deliveryId],
      ),
    async claim(deliveryId) {
      const { attempts } = await dispatch.claimAttempts({ limit: 64, endpointLimit: 64 });
      // Earlier tests leave leases that run out.
      const runs = attempts.map(({ run }) => runFromProto(run));
      return runs.filter((run) => run.deliveryId === deliveryId);
    },
    worker(change = () => ({})) {
      const { nativeConnection: connection, namespace = "default" } = environment;
      const activities = createActivities({
        ...{ dispatch, sender, recorder, slots },
        firstAreClaimed: true,
        nowMs: () => Date.now(),
      });
      return createWorker({
        ...{ connection, namespace, bundle, taskQueue: TASK_QUEUE },
        activities: { ...activities, ...change(activities) },
      });
    },
    async stop() {
      sender.close();
      await environment.teardown();
      await stack.stop();
      await receiver.stop();
    },
  };
}
