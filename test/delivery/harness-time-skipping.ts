import { DispatchService, EndpointService, WebhookEventKind } from "@activity/proto";
import { TestWorkflowEnvironment } from "@temporalio/testing";
import type { Worker } from "@temporalio/worker";
import { cacheFolder } from "../../tools/stack/cache-folder.ts";
import { createProgress } from "../../tools/stack/progress.ts";
import { findTimeSkippingServer } from "../../tools/stack/temporal-program.ts";
import {
  type AttemptPlaces,
  createAttemptPlaces,
} from "../../workflows/src/activities/attempt-places.ts";
import {
  type Activities,
  type ActivityDependencies,
  createActivities,
} from "../../workflows/src/activities/index.ts";
import type { Sequence } from "../../workflows/src/contract.ts";
import { createSender } from "../../workflows/src/http/sender.ts";
import { bundleWorkflows, createWorker } from "../../workflows/src/worker/create-worker.ts";
import { installEngineLog } from "../../workflows/src/worker/engine-log.ts";
import { createRetrySchedule } from "../../workflows/src/worker/schedule-retry.ts";
import { createAccount } from "../harness/builders.ts";
import { startTestStack, type TestStack } from "../harness/stack.ts";
import { type Behaviour, type Receiver, startReceiver } from "./harness-receiver.ts";
import { makeCertificates } from "./harness-receiver-certificates.ts";

/** The core and the workflows, on a Temporal whose clock skips what nobody waits for. */
export type TimeSkippingStack = {
  readonly stack: TestStack;
  readonly receiver: Receiver;
  readonly environment: TestWorkflowEnvironment;
  /** Where its workers make repeated attempts. */
  readonly places: AttemptPlaces;
  /** Creates an account with an endpoint at the receiver. */
  createEndpoint(): Promise<{ accountId: string; endpointId: string; secret: string }>;
  /** Makes an endpoint's secret one that the core cannot decrypt; done twice, it can again. */
  swapSecret(endpointId: string): Promise<unknown>;
  /** Makes it as if a delivery's last attempt had ended 40 seconds before it did. */
  pass40Seconds(deliveryId: string): Promise<unknown>;
  /** Claims what waits and marks it as handed over, as a relay does. */
  claim(): Promise<Sequence[]>;
  /** Creates a worker whose activities are the product's, each changed by `change`. */
  worker(
    change?: (activities: Activities) => Partial<Activities>,
    dependencies?: Partial<ActivityDependencies>,
  ): Promise<Worker>;
  stop(): Promise<void>;
};

/** Starts everything but a worker. */
export async function startTimeSkippingStack(behaviour: Behaviour): Promise<TimeSkippingStack> {
  const quiet = () => undefined;
  installEngineLog({ info: quiet, warn: quiet, error: quiet });
  const certificates = makeCertificates();
  const receiver = await startReceiver(behaviour, certificates.good);
  const target = `127.0.0.1:${receiver.port}`;
  const stack = await startTestStack({ env: { WEBHOOK_ALLOWED_TARGETS: target } });
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
  const places = createAttemptPlaces(() => performance.now());
  return {
    stack,
    receiver,
    environment,
    places,
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
    pass40Seconds: (deliveryId) =>
      stack.database.query(
        "UPDATE delivery SET next_attempt_at = next_attempt_at - 40000000 WHERE id = ?",
        [deliveryId],
      ),
    async claim() {
      const { sequences } = await dispatch.claimDeliveries({ limit: 64 });
      if (sequences.length > 0) await dispatch.markHandedOver({ sequences });
      return sequences.map(({ deliveryId, sequence }) => ({ deliveryId, sequence }));
    },
    worker(change = () => ({}), changed = {}) {
      const { nativeConnection: connection, namespace = "default" } = environment;
      const scheduleRetry = createRetrySchedule(environment.client.workflow);
      const nowMs = () => Date.now();
      const activities = createActivities({
        ...{ dispatch, sender, places, scheduleRetry, nowMs },
        ...changed,
      });
      return createWorker({
        connection,
        namespace,
        bundle,
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
