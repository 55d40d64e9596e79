import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Permission } from "@activity/server";
import { beforeAll, beforeEach } from "vitest";
import { watch } from "../start/harness-program.ts";
import { baseEnv } from "./base-env.ts";
import { createAccount, unique } from "./builders.ts";
import { useTestStack } from "./stack.ts";
import { useFolder } from "./use-started.ts";

const PROGRAM = join(import.meta.dirname, "../../import/src/main.ts");

/** Starts the product, and makes a new account for each test. */
export function useImporter() {
  const stack = useTestStack();
  const folder = useFolder("import");
  let credential: string;
  let account: string;
  beforeAll(async () => {
    credential = await stack.credential(Permission.DonationImport, Permission.AccountRead);
  });
  beforeEach(async () => {
    account = await createAccount(stack);
  });
  return {
    ...{ stack, folder, account: () => account },
    async writeCsv(text: string | Buffer): Promise<string> {
      const path = join(folder, `${unique("donations")}.csv`);
      await writeFile(path, text);
      return path;
    },
    /** Imports into the test's account, unless `args` name another one. */
    runImport(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
      const CORE_URL = `http://127.0.0.1:${stack.corePort}`;
      const core = { CORE_URL, SERVICE_CREDENTIAL: credential };
      return runImportProgram(folder, { ...core, ...env }, ["--account", account, ...args]);
    },
  };
}

/** Runs the importer as a person would, in a folder where nothing is stored about a local core. */
async function runImportProgram(cwd: string, env: NodeJS.ProcessEnv, args: readonly string[]) {
  const options = { cwd, env: { ...baseEnv(), ...env } };
  const { closed, output } = watch(spawn(process.execPath, [PROGRAM, ...args], options));
  return { exitCode: await closed, output: output() };
}
