import { expect, it } from "vitest";
import { type Candidate, pickEvenly, sharesOf } from "./claim-share.ts";

const queue = (accountNo: number, endpointId: string, room = 100) => ({
  accountNo,
  endpointId,
  room,
});
const waiting = (accountNo: number, endpointId: string, first: number, count: number) =>
  Array.from(
    { length: count },
    (_, index): Candidate => ({ accountNo, endpointId, deliveryNo: first + index }),
  );

it("shares evenly among accounts, and looks at no more of a queue than it has room for", () => {
  const shares = sharesOf([queue(1, "a", 5), queue(1, "b"), queue(2, "c")], 64, 0);
  expect(shares.map(({ endpointId, most }) => [endpointId, most])).toEqual([
    ["a", 5],
    ["b", 32],
    ["c", 32],
  ]);
});

it("takes turns among the queues of an account whose share is smaller than their number", () => {
  const own = ["a", "b", "c"].map((endpointId) => queue(1, endpointId));
  const chosen = [0, 1, 2, 3].map((turn) => sharesOf(own, 1, turn)[0]?.endpointId);
  expect(chosen).toEqual(["a", "b", "c", "a"]);
});

it("picks from accounts in turn, and of an account from its endpoints in turn", () => {
  const candidates = [
    ...waiting(1, "a", 10, 5),
    ...waiting(1, "b", 20, 5),
    ...waiting(2, "c", 30, 2),
  ];
  expect(pickEvenly(candidates, 6)).toEqual([10, 30, 20, 31, 11, 21]);
  expect(pickEvenly(candidates, 64)).toHaveLength(12);
  expect(pickEvenly([], 64)).toEqual([]);
});
