import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type { ClientName } from "./kinds.ts";

const DYING_OWNER = path.join(import.meta.dirname, "dying-owner.ts");

/** Starts a process that works on `eventId`, and kills it during the work. */
export async function killOwnerMidWork(
  client: ClientName,
  url: string,
  eventId: string,
  kind: "lease" | "transaction",
): Promise<void> {
  const child = spawn(process.execPath, [DYING_OWNER, client, url, eventId, kind], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
}
