import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { Permission } from "@activity/server";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT, readText } from "../architecture/import-rule.ts";
import { useServices } from "../harness/services.ts";
import { useFolder } from "../harness/use-started.ts";
import { runTool } from "./harness-tool.ts";

const folder = useFolder("credentials");
const services = useServices();
const credential = (args: string[]) =>
  runTool("service-credential.ts", args, { DATABASE_URL: services.database.url });

const named = (name: string) => ["--name", name, "--permission", "activity.read"];
const create = (name: string, ...args: string[]) => credential(["create", ...named(name), ...args]);
const TIME = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ";

it("creates, lists and revokes a credential, and shows its text once", async () => {
  const created = await create("importer", "--permission", "donation.write");
  expect(created.stdout).toMatch(/^act_svc_[0-9a-f]{64}\n$/);
  expect(created.stderr).toContain("Created importer, for all accounts and 90 days.");

  const row = (state: string) =>
    new RegExp(
      `^importer +${state} +all accounts +(${TIME}) +(${TIME}) +activity.read donation.write$`,
      "m",
    );
  const { stdout: list } = await credential(["list"]);
  expect(list).toMatch(/^NAME +STATE +ACCOUNT +CREATED +EXPIRES +PERMISSIONS\n/);
  const [, createdAt = "", expiresAt = ""] = row("active").exec(list) ?? [];
  expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(90 * 86_400_000);
  expect(list).not.toContain(created.stdout.trim());

  expect(await credential(["revoke", "importer"])).toMatchObject({ exitCode: 0, stdout: "" });
  expect((await credential(["list"])).stdout).toMatch(row("revoked"));
  const again = await create("importer");
  expect(again.exitCode).toBe(1);
  expect(again.stderr).toContain("importer is taken: number it, such as importer-2.");
});

it("replaces a credential by one with the next number, and revokes all before it", async () => {
  const replaced = async () => {
    const { exitCode, stdout, stderr } = await create("mailer", "--replace");
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^act_svc_[0-9a-f]{64}\n$/);
    return stderr;
  };
  const states = async () => {
    const { stdout } = await credential(["list"]);
    return Array.from(stdout.matchAll(/^(mailer\S*) +(\S+)/gm), ([, ...found]) => found.join(" "));
  };
  // No credential has this name, so there is nothing to replace.
  expect(await replaced()).toContain("Created mailer, for all accounts");
  await create("mailer-twin");
  expect(await replaced()).toContain("Revoked mailer: ");
  expect(await replaced()).toContain("Created mailer-3, for all accounts");
  expect(await states()).toEqual([
    ...["mailer revoked", "mailer-twin active", "mailer-2 revoked", "mailer-3 active"],
  ]);
});

it("shows the new credential's text also if the database cannot revoke the old one", async () => {
  await create("biller");
  const { exitCode, stdout, stderr } = await services.database.withTrigger(
    "BEFORE UPDATE ON service_credential",
    () => create("biller", "--replace"),
  );
  expect(stdout).toMatch(/^act_svc_[0-9a-f]{64}\n$/);
  expect(stderr).toMatch(/:\nThe database failed: broken off\n$/);
  expect(exitCode).toBe(1);
});

it("Compose's service creates the credentials once, and new ones when its volumes are empty", async () => {
  const compose = parse(readText("deploy/compose.yaml"), { merge: true });
  const [script = ""] = compose.services.credentials.command as string[];
  const here = script
    .replaceAll("$$", "$")
    .replace("cd /credentials", `cd ${folder}`)
    .replaceAll("/app/", ROOT);
  const runService = () => {
    for (const name of ["gateway", "deliveries"]) {
      mkdirSync(join(folder, name), { recursive: true });
    }
    const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
    const env = { ...process.env, PATH, DATABASE_URL: services.database.url };
    execFileSync("sh", ["-ec", here], { env, stdio: "pipe" });
    return readFileSync(join(folder, "gateway/own"), "utf8");
  };
  const first = runService();
  expect(first).toMatch(/^act_svc_/);
  expect(runService()).toBe(first);
  rmSync(folder, { recursive: true });
  await services.database.withTrigger("BEFORE UPDATE ON service_credential", async () => {
    expect(runService).toThrow("The database failed");
  });
  expect(runService()).toMatch(/^act_svc_/);
  const { stdout } = await credential(["list"]);
  const left = ["gateway +revoked", "gateway-2 +revoked", "gateway-3 +active"];
  for (const line of [...left, "deliveries-2 +active"]) {
    expect(stdout).toMatch(new RegExp(`^${line} `, "m"));
  }
});

it("creates a credential for one existing account and for the given days", async () => {
  const accountId = await services.createAccount();
  const createFor = (account: string) => create("one", "--account", account, "--days", "7");
  expect((await createFor(accountId)).stderr).toContain(`for ${accountId} and 7 days.`);
  const { stdout } = await credential(["list"]);
  expect(stdout).toMatch(new RegExp(`^one +active +${accountId} `, "m"));
  for (const [nobody, sentence] of [
    ["0".repeat(15), "There is no account with this account_id."],
    ["ü", "account_id accepts the id of an account"],
  ] as const) {
    const refused = await createFor(nobody);
    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toContain(sentence);
  }
});

/** `server/src/service-credential/service-credential.test.ts` tests names, permissions and days. */
it.each([
  [["destroy"]],
  [["create", "--name", "x"]],
  [["create", "--nmae", "x"]],
  [["revoke"]],
  [["create", ...named("importer"), "--account", ""]],
  [["revoke", "nobody"]],
])("prints its usage when it is called with %j", async (args) => {
  const { exitCode, stdout, stderr } = await credential(args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  for (const permission of Object.values(Permission)) expect(stderr).toContain(permission);
});
