import { Permission } from "@activity/server";
import { ROOT } from "../architecture/import-rule.ts";
import type { Behaviour } from "../delivery/harness-receiver.ts";
import { startTrustedReceiver } from "../delivery/harness-trusted-receiver.ts";
import type { TestStack } from "../harness/stack.ts";
import { useStarted } from "../harness/use-started.ts";
import { type Run, usePrograms } from "../start/harness-program.ts";

export const KEYS = { CURSOR_KEYS: "ab".repeat(32), SECRET_KEYS: "cd".repeat(32) };
/** An address without a listener. */
const NO_TEMPORAL = { TEMPORAL_ADDRESS: "127.0.0.1:1" };

/** The programs that run as processes, and the text that each logs once it works. */
export const PARTS = {
  core: { program: "server/src/main.ts", ready: "core listens" },
  gateway: { program: "gateway/src/main.ts", ready: "gateway listens" },
  deliveries: { program: "workflows/src/main.ts", ready: "deliveries run" },
};
export type PartName = keyof typeof PARTS;
export type Variables = Readonly<Record<string, string>>;

export type Part = Awaited<ReturnType<ReturnType<typeof useParts>>>;

/** Starts parts and kills them after the tests of a file or group. `parts` lists all started ones. */
export function useParts() {
  const startProgram = usePrograms();
  const parts: Run[] = [];
  /** Starts a part of the version in `root` and waits until it works. Rejects with its output if it ends. */
  async function start(name: PartName, env: Variables, root = ROOT) {
    const { program, ready } = PARTS[name];
    const run = startProgram(program, env, root);
    parts.push(run);
    // Deliveries have no port, so theirs is 0.
    const { port = 0 }: { port?: number } = JSON.parse(await run.untilSaid(`"${ready}"`));
    return {
      ...{ port, pid: run.child.pid ?? 0, output: run.output },
      stop: () => run.end(),
      kill: () => run.end("SIGKILL"),
    };
  }
  return Object.assign(start, { parts: parts as readonly Run[] });
}

/** Returns the variables of a part, or of all parts in one process, beside a running product. Each takes free ports. */
export async function variablesOf(name: PartName | "serve", stack: TestStack): Promise<Variables> {
  const CORE_URL = `http://127.0.0.1:${stack.corePort}`;
  const core = { ...KEYS, DATABASE_URL: stack.database.url, CORE_PORT: "0" };
  if (name === "core") return core;
  if (name === "serve") return { ...core, ...NO_TEMPORAL, GATEWAY_PORT: "0" };
  if (name === "gateway") {
    const GATEWAY_CREDENTIAL = await stack.credential(Permission.ClientAddressForward);
    return { CORE_URL, GATEWAY_CREDENTIAL, GATEWAY_PORT: "0" };
  }
  const CORE_CREDENTIAL = await stack.credential(Permission.DeliveryDispatch);
  return { ...NO_TEMPORAL, CORE_URL, CORE_CREDENTIAL };
}

/** A receiver over TLS that cores and deliveries trust, for the tests of a file or group. */
export const useTrustedReceiver = (folder: string, behaviour: Behaviour) =>
  useStarted(async () => {
    const started = await startTrustedReceiver(folder, behaviour);
    return { ...started, stop: started.receiver.stop };
  });
