import { createCoreTransport } from "@activity/gateway";
import { Permission } from "@activity/server";
import { isDeadlock } from "../../server/src/database/outage.ts";
import type { TestStack } from "../harness/stack.ts";

export async function connectToCore(stack: TestStack, corePort: number) {
  const credential = await stack.credential(Permission.ClientAddressForward);
  const coreUrl = `http://127.0.0.1:${corePort}`;
  return createCoreTransport({ coreUrl, coreTls: {}, revealCredential: () => credential });
}

/** Resets the limits, which a test does not cover. After a lost deadlock with the core, the next call resets them. */
export async function emptyWindows({ database }: TestStack): Promise<void> {
  await database.query("DELETE FROM rate_window").catch((error) => {
    if (!isDeadlock(error)) throw error;
  });
}
