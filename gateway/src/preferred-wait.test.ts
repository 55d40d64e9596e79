import { expect, it } from "vitest";
import { preferredWait } from "./preferred-wait.ts";

it.each([
  [["wait=5"], 5],
  [["wait=10"], 10],
  [["wait=3600"], 10],
  [['Wait = "7"'], 7],
  [["respond-async, wait=3"], 3],
  [["respond-async", "wait=3"], 3],
  [["wait=3; because=x"], 3],
  [['note="a, wait=5, b", wait=3'], 3],
  [['note="a\\", wait=5, b", wait=3'], 3],
  [['note="a, wait=5'], undefined],
  [["wait=2, wait=9"], 2],
  [[], undefined],
  [[""], undefined],
  [["wait"], undefined],
  [["wait="], undefined],
  [["wait=0"], undefined],
  [["wait=-1"], undefined],
  [["wait=1.5"], undefined],
  [["wait=soon"], undefined],
  [["wait=99999999999"], 10],
  [["wait=00000000005"], 5],
  [["await=5"], undefined],
  [["wait 5"], undefined],
])("RFC 7240: %j waits for %s seconds", (prefer, seconds) => {
  expect(preferredWait(prefer)).toBe(seconds);
});
