import { expect, it } from "vitest";
import { type Queue, takeRoundRobin } from "./fair-share.ts";

const FIRST = () => 0;
const queue = (accountNo: number, endpointId: string, count: number): Queue => ({
  accountNo,
  endpointId,
  deliveryIds: Array.from({ length: count }, (_, place) => `${endpointId}${place}`),
});
const take = (queues: readonly Queue[], limit: number, random = FIRST) =>
  takeRoundRobin(queues, limit, random).map(({ deliveryId }) => deliveryId);

it("takes round-robin from accounts, and from the endpoints of each account, oldest first", () => {
  const queues = [queue(1, "a", 5), queue(1, "b", 5), queue(2, "c", 2)];
  expect(take(queues, 6)).toEqual(["a0", "c0", "b0", "c1", "a1", "b1"]);
});

it("chooses the first account and endpoint at random, so that none is always last", () => {
  const accounts = [1, 2, 3, 4].map((no) => queue(no, `a${no}`, 1));
  const endpoints = ["a", "b", "c", "d"].map((id) => queue(1, id, 1));
  for (const queues of [accounts, endpoints]) {
    const drawn = [0, 0.25, 0.5, 0.75].map((fraction) => take(queues, 1, () => fraction)[0]);
    expect(drawn).toEqual(queues.map(({ deliveryIds }) => deliveryIds[0]));
    expect(take(queues, 1, () => 1 - Number.EPSILON)).toEqual(queues[3]?.deliveryIds);
  }
});
