import { expect, it } from "vitest";
import { AttemptOutcome, isRetried, outcomeOf } from "./attempt-outcome.ts";

const outcomeOfStatus = (status: number) =>
  outcomeOf({ kind: "answered", status, headers: "", bodyStart: Buffer.alloc(0) });

it("§6.4 outcomeOf names an outcome for every status", () => {
  for (let status = 200; status < 1_000; status++) {
    const outcome = outcomeOfStatus(status);
    if (status < 300) expect(outcome).toBe("delivered");
    else if (status < 400) expect(outcome).toBe("redirected");
    else if ([408, 425, 429].includes(status)) expect(outcome).toBe("receiver_busy");
    else if (status === 401 || status === 403) expect(outcome).toBe("auth_rejected");
    else if (status === 404) expect(outcome).toBe("route_not_found");
    else if (status >= 500 && status < 600) expect(outcome).toBe("receiver_busy");
    else expect(outcome).toBe("rejected");
  }
  expect(outcomeOfStatus(101)).toBe("rejected");
});

it("§6.4 isRetried is true only of failures that may be temporary", () => {
  expect(Object.values(AttemptOutcome).filter(isRetried)).toEqual([
    "receiver_busy",
    "dns_failed",
    "timeout",
    "network_error",
  ]);
});
