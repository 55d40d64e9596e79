import { DomainError, ErrorCode } from "../../server/src/common/errors.ts";
import { DeliveryState, retriableStates } from "../../server/src/dispatch/delivery-state.ts";
import { UnknownStatement } from "./memory-packets.ts";
import type { Product } from "./product.ts";

/** How long an owner waits for an answer, and after an error. */
const ANSWER_WITHIN_MS = 30_000;
const AGAIN_AFTER_MS = 3_000;
const RULE = "a bulk retry begins a run of each delivery that it was asked for";

/**
 * Has an owner retry all deliveries that have ended. Other rules demand that a run that has begun is sent, and that the
 * bulk retry ends.
 */
export async function retryAll(product: Product, accountNo: number): Promise<void> {
  const { world, database, broken, bulkRetries } = product;
  const asked = listAsked(product, accountNo);
  bulkRetries.add(asked);
  await askForAll(product, accountNo).finally(() => bulkRetries.delete(asked));
  const { deliveries, endpoints, events } = database.tables;
  for (const { deliveryId, eventId, run, endpoint } of asked) {
    const row = deliveries.get(deliveryId);
    // Nothing is left to retry if another worker's success was recorded after the list.
    const isDone = (row?.run ?? 0) > run || row?.state === DeliveryState.Delivered;
    // The row is the same unless the endpoint was changed or the database restored.
    const isSame = endpoint !== undefined && endpoints.get(endpoint.id) === endpoint;
    if (isDone || !isSame || events.get(eventId)?.payload === null) continue;
    broken(RULE, `${deliveryId} is still in run ${run}, at ${world.nowMs()}`);
  }
}

/** Asks for all parts. After an error the owner asks for the same part again, as the dashboard offers. */
async function askForAll(product: Product, accountNo: number): Promise<void> {
  const { world, broken } = product;
  for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
    try {
      pageToken = (await askFor(product, accountNo, pageToken)) || undefined;
    } catch (error) {
      if (error instanceof DomainError && error.code !== ErrorCode.AccountUnavailable) {
        broken("only a blocked account's bulk retry is refused", error.message);
      }
      if (error instanceof DomainError || error instanceof UnknownStatement) throw error;
      await world.wait(AGAIN_AFTER_MS);
    }
  }
}

/** Lists the deliveries that a bulk retry must begin, each with its endpoint. */
function listAsked({ database }: Product, accountNo: number) {
  const { deliveries, endpoints } = database.tables;
  const states = retriableStates({});
  return [...deliveries.values()]
    .filter((row) => row.accountNo === accountNo && states.includes(row.state))
    .map((row) => ({ ...row, endpoint: endpoints.get(row.endpointId) }))
    .filter(({ endpoint }) => endpoint?.switchedOn && endpoint.deletedAt === null);
}

/** Asks the core that lives for one part. Returns the token of the next part, which is empty after the last part. */
function askFor(product: Product, accountNo: number, pageToken: string): Promise<string> {
  const { world } = product;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = () => reject(new Error("no answer came"));
  const noKill = product.core()?.process.onKill(fail);
  const cancel = world.after(ANSWER_WITHIN_MS, fail);
  const end = () => {
    noKill?.();
    cancel();
  };
  promise.then(end, end);
  product.ownerOf({ accountNo }).retryPart(pageToken).then(resolve, reject);
  return promise;
}
