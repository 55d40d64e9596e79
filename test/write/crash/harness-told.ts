import { type Delivery, DeliveryService, DeliveryState } from "@activity/proto";
import { expect } from "vitest";
import { eventIdOf } from "../../delivery/crash/harness-attempts.ts";
import { SIZE } from "../../delivery/crash/harness-size.ts";
import type { CrashStack } from "../../delivery/crash/harness-stack.ts";
import type { ReceivedRequest } from "../../delivery/harness-receiver.ts";

const PAGE_SIZE = 100;
const ON_THEIR_WAY = [DeliveryState.PENDING, DeliveryState.RETRYING];
const SETTLE = { timeout: SIZE.settleMinutes * 60_000, interval: 500 };

/** Waits until no delivery of an account is on its way. */
export async function untilDelivered(stack: CrashStack, accountId: string): Promise<void> {
  const deliveries = stack.client(DeliveryService);
  const listAny = async () => {
    const pages = ON_THEIR_WAY.map((state) =>
      deliveries.listDeliveries({ accountId, state, pageSize: 1 }),
    );
    return (await Promise.all(pages)).flatMap((page) => page.deliveries.map(({ id }) => id));
  };
  await expect.poll(listAny, SETTLE).toEqual([]);
}

/** Lists all deliveries of an account. */
export async function listDeliveries(stack: CrashStack, accountId: string): Promise<Delivery[]> {
  const client = stack.client(DeliveryService);
  const deliveries: Delivery[] = [];
  let pageToken = "";
  do {
    const page = await client.listDeliveries({ accountId, pageSize: PAGE_SIZE, pageToken });
    deliveries.push(...page.deliveries);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return deliveries;
}

/** Names what requests told, each event once however often it was sent: its kind and its record. §6.2 */
export function toldOf(requests: readonly ReceivedRequest[]): string[] {
  const byEvent = new Map(requests.map((request) => [eventIdOf(request), request]));
  return [...byEvent.values()].map(({ body }) => {
    const { type, data } = JSON.parse(body.toString("utf8"));
    return `${type} ${data.id}`;
  });
}
