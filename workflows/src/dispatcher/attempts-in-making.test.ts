import { expect, it } from "vitest";
import { createAttemptsInMaking } from "./attempts-in-making.ts";

it("ADR 0028: an endpoint is slow while an attempt of it is older than half a second", () => {
  let nowMs = 0;
  const making = createAttemptsInMaking(() => nowMs);
  const [first] = [making.begin("hangs"), making.begin("hangs")];
  nowMs = 500;
  making.begin("answers");
  expect(making.read()).toEqual({ quick: 3, slowEndpointIds: [] });
  nowMs = 501;
  making.begin("hangs");
  expect(making.read()).toEqual({ quick: 1, slowEndpointIds: ["hangs"] });
  first?.();
  expect(making.read()).toEqual({ quick: 1, slowEndpointIds: ["hangs"] });
});

it("counts attempts as quick at slow endpoints beyond 64", () => {
  let nowMs = 0;
  const making = createAttemptsInMaking(() => nowMs);
  const ends = Array.from({ length: 70 }, (_, place) => making.begin(`endpoint ${place}`));
  nowMs = 501;
  const { quick, slowEndpointIds } = making.read();
  expect([quick, slowEndpointIds.length]).toEqual([6, 64]);
  for (const end of ends) end();
  expect(making.read()).toEqual({ quick: 0, slowEndpointIds: [] });
});
