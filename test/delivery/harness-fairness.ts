import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { writePending } from "../harness/backlog.ts";
import { createAccount, createEndpoint, createPaidDonation } from "../harness/builders.ts";
import { type DeliveryStack, startDeliveryStack } from "./harness-deliveries.ts";
import type { Behaviour, ReceivedRequest } from "./harness-receiver.ts";
import { answer } from "./harness-receiver-behaviours.ts";

export const BUSY_ENDPOINTS = 10;
/** The task queue of the product's workflows. Tests also start workflows in it. */
export const TASK_QUEUE = "fairness";
const BACKLOG = 100_000;
/** Fewer than this many of the backlog, a hundredth, may come before another account's first attempt. */
export const FEW = BACKLOG / 100;
const ARRIVES_WITHIN_MS = 30_000;

export type FairnessStack = Awaited<ReturnType<typeof startFairnessStack>>;

/** Starts the stack with a quiet account and an account with ten busy endpoints, which hang. */
export async function startFairnessStack() {
  const isBusy = ({ requestLine }: ReceivedRequest) => requestLine.includes("/busy");
  /** For each record of the quiet account, the number of busy requests when its event arrived. */
  const arrivals = new Map<string, number>();
  const behaviour: Behaviour = (socket, request) => {
    if (isBusy(request)) return;
    const { data } = JSON.parse(request.body.toString("utf8"));
    if (data !== undefined) arrivals.set(data.id, busyRequests());
    answer(200)(socket, request);
  };
  /** The number of requests to the busy endpoints. */
  const busyRequests = (): number => delivery.receiver.requests.filter(isBusy).length;
  const env = { TEMPORAL_TASK_QUEUE: TASK_QUEUE };
  const delivery: DeliveryStack = await startDeliveryStack(behaviour, { env });
  const { stack, receiver } = delivery;
  const quietId = await createAccount(stack);
  const { endpointId: quietEndpointId } = await delivery.createEndpoint(quietId);
  const busyId = await createAccount(stack);
  const busyEndpointIds = await Promise.all(
    Array.from({ length: BUSY_ENDPOINTS }, async (_, number) => {
      const url = `https://127.0.0.1:${receiver.port}/busy/${number}`;
      return (await createEndpoint(stack, busyId, url)).endpointId;
    }),
  );
  return {
    delivery,
    ...{ busyId, busyEndpointIds, quietId, quietEndpointId },
    busyRequests,
    /** The number of requests to the quiet account's endpoint. */
    quietRequests: () => receiver.requests.filter((request) => !isBusy(request)).length,
    /** Writes 100,000 deliveries to the busy endpoints. */
    writeBacklog: () =>
      writePending(stack.database, {
        accountId: busyId,
        endpointIds: busyEndpointIds,
        count: BACKLOG,
      }),
    /**
     * Makes donations of the quiet account for this long. Returns the most busy requests that arrived between a
     * donation and its event.
     */
    async mostBeforeFirstAttempts(milliseconds: number) {
      const endsAt = performance.now() + milliseconds;
      const before: number[] = [];
      while (performance.now() < endsAt) {
        const already = busyRequests();
        const { recordId } = await createPaidDonation(stack, quietId);
        const arrived = () => arrivals.has(recordId);
        await expect.poll(arrived, { timeout: ARRIVES_WITHIN_MS, interval: 5 }).toBe(true);
        before.push((arrivals.get(recordId) ?? Infinity) - already);
        await wait(500);
      }
      process.stderr.write(`requests before first attempts: ${before.join(", ")}\n`);
      return Math.max(...before);
    },
    /** Removes the backlog and closes hanging connections. */
    async reset() {
      // TRUNCATE, because the next look would scan deleted rows until the server purges them.
      await stack.database.query("TRUNCATE TABLE outbox_entry");
      for (const socket of receiver.sockets()) socket.destroy();
    },
    stop: () => delivery.stop(),
  };
}
