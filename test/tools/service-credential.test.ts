import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Permission } from "@activity/server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../harness/database.ts";

const TOOL = fileURLToPath(new URL("../../tools/service-credential.ts", import.meta.url));

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

type Result = { exitCode: number; stdout: string; stderr: string };

function runTool(args: string[], databaseUrl = database.url): Promise<Result> {
  return new Promise((resolve) => {
    const env = { ...process.env, DATABASE_URL: databaseUrl };
    execFile(process.execPath, [TOOL, ...args], { env }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : 1, stdout, stderr });
    });
  });
}

it("creates, lists and revokes a credential, and shows its text once", async () => {
  const permissions = ["--permission", "activity.read", "--permission", "donation.write"];
  const created = await runTool(["create", "--name", "importer", ...permissions]);
  expect(created.stdout).toMatch(/^act_svc_[0-9a-f]{64}\n$/);
  const id = /[a-z0-9]{15}/.exec(created.stderr)?.[0] ?? "";

  const { stdout: listed } = await runTool(["list"]);
  expect(listed).toBe(`${id}  active   importer  activity.read donation.write\n`);
  expect((await runTool(["revoke", id])).exitCode).toBe(0);
  expect((await runTool(["list"])).stdout).toContain(`${id}  revoked`);
});

it.each([
  [[]],
  [["destroy"]],
  [["create", "--name", "x"]],
  [["create", "--name", "x", "--permission", "everything"]],
  [["create", "--permission", "activity.read"]],
  [["create", "--nmae", "x"]],
  [["revoke"]],
  [["revoke", "nobody"]],
])("explains itself when it is called with %j", async (args) => {
  const { exitCode, stdout, stderr } = await runTool(args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  for (const permission of Object.values(Permission)) expect(stderr).toContain(permission);
});

it("says in one sentence that the database does not answer", async () => {
  const { exitCode, stderr } = await runTool(["list"], "mysql://root@127.0.0.1:1/nothing");
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^The database did not answer: .*\n$/);
});
