import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "../../dev-stack/src/cache-folder.ts";

/** A delivery as a Python receiver gets it. */
export type PythonDelivery = {
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

const PACKAGES = ["standardwebhooks==1.1.0", "svix==2.9.1"] as const;
const SCRIPT = fileURLToPath(new URL("harness-receiver-verify.py", import.meta.url));

/** Whether this machine has Python with pip. */
export function hasPython(): boolean {
  return spawnSync("python3", ["-m", "pip", "--version"], { stdio: "ignore" }).status === 0;
}

/** Installs the packages, once, beside what else the tests keep; returns their folder. Throws without pip. */
export function installPythonPackages(env: NodeJS.ProcessEnv): string {
  const folder = join(cacheFolder(env), `python-${PACKAGES.join("-").replaceAll("=", "")}`);
  if (!hasPython()) throw new Error("python3 with pip is missing, which CI must have");
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    run("python3", ["-m", "pip", "install", "--quiet", "--target", unfinished, ...PACKAGES], {});
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** Has both packages verify deliveries; returns each package's verdicts, in their order. */
export function verifyWithPython(
  folder: string,
  deliveries: readonly PythonDelivery[],
): Record<string, string[]> {
  const input = JSON.stringify(
    deliveries.map((delivery) => ({ ...delivery, body: delivery.body.toString("base64") })),
  );
  const output = run("python3", [SCRIPT], { input, env: { ...process.env, PYTHONPATH: folder } });
  return JSON.parse(output) as Record<string, string[]>; // the script's own output
}

function run(
  program: string,
  args: readonly string[],
  options: { readonly input?: string; readonly env?: NodeJS.ProcessEnv },
): string {
  const { status, stdout, stderr } = spawnSync(program, args, { ...options, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
  return stdout;
}
