import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeliveryService, EndpointService } from "@activity/proto";
import { readDeliveryConfig } from "@activity/workflows";
import { Connection, WorkflowClient, type WorkflowHandle } from "@temporalio/client";
import { createProgress } from "../../dev-stack/src/progress.ts";
import { startTemporal } from "../../dev-stack/src/temporal.ts";
import { type SigningSecrets, verify } from "../../receiver-kit/src/index.ts";
import { deliverWorkflowId } from "../../workflows/src/workflow/contract.ts";
import { createAccount, createEndpoint } from "../harness/builders.ts";
import { startTestStack } from "../harness/stack.ts";
import { useStarted } from "../harness/use-started.ts";
import type { Behaviour, ReceivedRequest } from "./harness-receiver.ts";
import { startTrustedReceiver } from "./harness-trusted-receiver.ts";

type Variables = Readonly<Record<string, string>>;

type DeliveryStackOptions = {
  /** Whether the stack delivers from the start, which is the default. If not, events wait for `startDelivering`. */
  readonly delivers?: boolean;
  /** Further variables of the deliveries. */
  readonly env?: Variables;
  /** Further variables of the core. */
  readonly core?: Variables;
};

/** Starts the whole product with a real Temporal and a receiver over TLS on loopback. */
export async function startDeliveryStack(
  behaviour: Behaviour,
  { delivers = true, env = {}, core = {} }: DeliveryStackOptions = {},
) {
  const folder = await mkdtemp(join(tmpdir(), "activity-delivery-"));
  const { receiver, trusting } = await startTrustedReceiver(folder, behaviour);
  const server = {
    env: process.env,
    dataDir: join(folder, "temporal"),
    progress: createProgress(),
  };
  let temporal = await startTemporal(server);
  const configOf = (further: Variables = {}) =>
    readDeliveryConfig({ TEMPORAL_ADDRESS: temporal.address, ...trusting, ...env, ...further });
  const stack = await startTestStack({
    env: { ...trusting, ...core },
    ...(delivers && { deliveries: configOf() }),
  });
  const hookUrl = `https://127.0.0.1:${receiver.port}/hook`;
  const read = (accountId: string, deliveryId: string) =>
    stack.client(DeliveryService).getDelivery({ accountId, deliveryId });
  const requestsOf = (eventId: string) =>
    receiver.requests.filter((request) => headerOf(request, "Service-Event-Id") === eventId);

  return {
    ...{ stack, receiver, hookUrl, read, requestsOf },
    temporal: () => temporal,
    /** Starts one more instance of the product. It always delivers. `further` are variables of its deliveries. */
    startDelivering: (further: Variables = {}) =>
      stack.startInstance({ deliveries: configOf(further) }),
    killTemporal: () => temporal.kill(),
    /** Starts Temporal again with the same state. */
    async restartTemporal() {
      temporal = await startTemporal(server);
    },
    /** Reads the workflow of a delivery's first run from Temporal, as Temporal's own tools do. */
    async askWorkflow<Answer>(
      deliveryId: string,
      ask: (workflow: WorkflowHandle) => Promise<Answer>,
    ): Promise<Answer> {
      const connection = await Connection.connect({ address: temporal.address });
      const workflowId = deliverWorkflowId({ accountNo: 0, deliveryId, run: 1 });
      const workflow = new WorkflowClient({ connection }).getHandle(workflowId);
      return ask(workflow).finally(() => connection.close());
    },
    /** Creates an endpoint at the receiver, for every kind. */
    createEndpoint: (accountId: string) => createEndpoint(stack, accountId, hookUrl),
    /** Creates an account with an endpoint at the receiver. */
    async createOwner() {
      const accountId = await createAccount(stack);
      return { accountId, ...(await createEndpoint(stack, accountId, hookUrl)) };
    },
    sendTest: ({ accountId, endpointId }: { accountId: string; endpointId: string }) =>
      stack.client(EndpointService).sendTest({ accountId, endpointId }),
    stateOf: async (accountId: string, deliveryId: string) =>
      (await read(accountId, deliveryId)).delivery?.state,
    /** The states of an account's deliveries, newest first. */
    async statesOf(accountId: string) {
      const { deliveries } = await stack.client(DeliveryService).listDeliveries({ accountId });
      return deliveries.map(({ state }) => state);
    },
    entriesOf: (deliveryId?: string) =>
      stack.database.query<{ task: number }>(
        `SELECT task FROM outbox_entry ${deliveryId ? "WHERE delivery_id = ?" : ""}`,
        [deliveryId],
      ),
    async stop() {
      await stack.stop();
      await temporal.stop();
      await receiver.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The stack, shared by the tests of a file or group. */
export const useDeliveryStack = (behaviour: Behaviour, options?: DeliveryStackOptions) =>
  useStarted(() => startDeliveryStack(behaviour, options));

export function headerOf({ headers }: ReceivedRequest, name: string): string {
  return headers.find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1] ?? "";
}

export const attemptNumbersOf = (requests: readonly ReceivedRequest[]) =>
  requests.map((request) => Number(headerOf(request, "Service-Attempt")));

export const bodyOf = ({ body }: ReceivedRequest) => JSON.parse(body.toString("utf8"));

/** Verifies a request as receivers must, with the current clock. §6.3 */
export const verifyRequest = ({ headers, body }: ReceivedRequest, secrets: SigningSecrets) =>
  verify(body, Object.fromEntries(headers), { secrets });
