import { createLogWriter, type ServerConfig } from "@activity/server";
import { expect, it } from "vitest";
import { QUIET } from "../../test/harness/quiet.ts";
import { serveProcesses } from "./processes.ts";

const host = "127.0.0.1";

it.each([
  ["METRICS_PORT", 65_534, 9463],
  ["HEALTH_PORT", 9464, 9465],
  ["HEALTH_PORT", 9464, 9466],
])("refuses a %s that the SDK of one of several processes needs", async (name, port, health) => {
  const core = { metrics: { host, port }, health: { host, port: health } } as ServerConfig;
  const serving = serveProcesses(
    2,
    core,
    QUIET,
    createLogWriter(() => undefined),
  );
  await expect(serving).rejects.toThrow(new RegExp(`^${name} must .* --processes 2`));
});
