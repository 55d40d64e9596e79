import { expect, it, vi } from "vitest";
import { openMetrics } from "./metrics-listener.ts";

it("logs the open port, which the system chooses if METRICS_PORT is 0", async () => {
  const info = vi.fn();
  const { address, close } = await openMetrics({ host: "127.0.0.1", port: 0 }, { info });
  close();
  expect(info.mock.calls).toEqual([["metrics are served", { port: address?.port }]]);
});
