import { expect, it } from "vitest";
import { DomainError, ErrorCode } from "../../server/src/common/errors.ts";
import { DeliveryState } from "../../server/src/dispatch/delivery-state.ts";
import { retryAll } from "./bulk-retry.ts";
import type { Owner } from "./owner.ts";
import { createProduct } from "./product.ts";
import { drawScenario } from "./scenario.ts";

/** Has an owner retry a failed delivery; `retryPart` answers the only call. Returns the broken rule. */
async function violationOf(retryPart: (row: { state: DeliveryState }) => Promise<string>) {
  const product = createProduct(drawScenario(1));
  const { deliveries, endpoints } = product.database.tables;
  const row = {
    ...{ accountNo: 1, deliveryId: "a", endpointId: [...endpoints.keys()][0] ?? "", eventId: "b" },
    ...{ state: DeliveryState.Failed, run: 1, createdAt: 0 },
    ...{ attempts: 8, lastOutcome: null, nextAttemptAt: null },
  };
  deliveries.set(row.deliveryId, row);
  const ownerOf = () => ({ retryPart: () => retryPart(row) }) as Partial<Owner> as Owner;
  await retryAll({ ...product, ownerOf }, 1).catch(() => undefined);
  return product.violation()?.rule;
}

it("a bulk retry may begin no run of a delivery that became delivered meanwhile", async () => {
  const answered = await violationOf(async () => "");
  const delivered = await violationOf(async (row) => {
    row.state = DeliveryState.Delivered;
    return "";
  });
  expect(answered).toBe("a bulk retry begins a run of each delivery that it was asked for");
  expect(delivered).toBeUndefined();
});

it("a bulk retry may be refused only for what its owner can meet", async () => {
  const refuse = (code: ErrorCode) => () => Promise.reject(new DomainError(code, "refused"));
  expect(await violationOf(refuse(ErrorCode.AccountUnavailable))).toBeUndefined();
  const refused = await violationOf(refuse(ErrorCode.InvalidParameter));
  expect(refused).toBe("only a blocked account's bulk retry is refused");
});
