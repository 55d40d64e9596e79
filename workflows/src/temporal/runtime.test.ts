import { createServer } from "node:net";
import { ConfigError } from "@activity/runtime/environment";
import { expect, it } from "vitest";
import { listenLocally } from "../../../test/harness/listening.ts";
import { QUIET } from "../../../test/harness/quiet.ts";
import { installTemporalRuntime } from "./runtime.ts";

it("names METRICS_PORT when the next port, for the SDK's metrics, is taken", async () => {
  const server = createServer();
  const taken = await listenLocally(server);
  const install = () => installTemporalRuntime(QUIET, { host: "127.0.0.1", port: taken - 1 });
  try {
    expect(install).toThrow(ConfigError);
    expect(install).toThrow(`METRICS_PORT needs port ${taken} free too`);
  } finally {
    server.close();
  }
});
