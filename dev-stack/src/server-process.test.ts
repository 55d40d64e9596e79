import { join } from "node:path";
import { expect, it } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import { startServer } from "./server-process.ts";

const folder = useFolder("server");

it("leaves no server running that it cannot remember", async () => {
  let pid = 0;
  const started = startServer({
    ...{ title: "Sleep", launch: { command: "sleep", leading: [] }, args: ["60"] },
    ...{ env: process.env, logFile: join(folder, "sleep.log"), isReady: async () => true },
    remember: async (remembered) => {
      pid = remembered;
      throw new Error("no space left");
    },
  });
  await expect(started).rejects.toThrow("no space left");
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});
