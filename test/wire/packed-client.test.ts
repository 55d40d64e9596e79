import { execFile, execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Permission } from "@activity/server";
import { beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../tools/release/published.ts";
import { createAccount, unique } from "../harness/builders.ts";
import { installPacked } from "../harness/packed-project.ts";
import { useTestStack } from "../harness/stack.ts";
import { openDoor } from "../harness/tcp-door.ts";
import { useFolder } from "../harness/use-started.ts";

const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const PEERS = ["@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-node"];

const stack = useTestStack();
/** A project with the packed client and the example of its README. */
const project = useFolder("client");
let node: string;

beforeAll(() => {
  const packages = [...PEERS, "@types/node"].map((name) => `${name}@${devDependencies[name]}`);
  node = installPacked("proto/client", project, packages);
  const readme = readFileSync(join(ROOT, "proto/client/README.md"), "utf8");
  const [, example = ""] = /^```ts donate\.ts\n(.*?)^```$/ms.exec(readme) ?? [];
  writeFileSync(join(project, "donate.ts"), example);
});

/** Runs the compiled example with Node 20. Returns both streams, also if the example fails. */
async function donate(
  credential: string,
  args: readonly string[],
  port = stack.corePort,
): Promise<string> {
  const run = promisify(execFile)(node, ["donate.js", ...args], {
    cwd: project,
    env: { CORE_URL: `http://127.0.0.1:${port}`, SERVICE_CREDENTIAL: credential },
  });
  const { stdout, stderr } = await run.catch(
    (failed: { stdout: string; stderr: string }) => failed,
  );
  return stdout + stderr;
}

describe("@activity/client, packed and installed in a bare project", () => {
  it("has declarations that compile strictly with the example of its README", () => {
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--ignoreConfig"];
    const modules = ["--module", "nodenext", "--target", "es2022", "--types", "node"];
    execFileSync(process.execPath, [TSC, ...strict, ...modules, "donate.ts"], {
      cwd: project,
      stdio: "inherit",
    });
  });

  it("writes to the running core from Node 20, and is told a failure by its code", async () => {
    const accountId = await createAccount(stack);
    const credential = await stack.credential(Permission.DonationWrite);
    const externalId = unique("donation");
    const told = await donate(credential, [accountId, externalId]);
    expect(told).toMatch(/^don_[a-z0-9]{15}\n$/);
    expect(await donate(credential, [accountId, externalId])).toBe(told);
    const unknown = await donate(credential, ["0".repeat(15), externalId]);
    expect(unknown).toMatch(/^account_not_found: /);
    expect(await donate("", [accountId, externalId])).toMatch(/^invalid_service_credential: /);
  });

  it("tries a write again while the core is away, and says a word when it stays away", async () => {
    const accountId = await createAccount(stack);
    const credential = await stack.credential(Permission.DonationWrite);
    let calls = 0;
    const door = await openDoor(stack.corePort, () => ++calls > 2);
    const externalId = unique("donation");
    expect(await donate(credential, [accountId, externalId], door.port)).toMatch(/^don_/);
    door.close();
    const away = await donate(credential, [accountId, externalId], 1);
    expect(away).toMatch(/^temporarily_unavailable: /);
  }, 60_000);

  it("has every service but those that the product's processes call among themselves", () => {
    const list = `import * as client from "@activity/client";
      console.log(JSON.stringify(Object.values(client)
        .filter((each) => each.kind === "service").map((each) => each.typeName)));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", list], {
      cwd: project,
      encoding: "utf8",
    });
    const services: string[] = JSON.parse(output);
    const protos = execFileSync(
      "grep",
      ["-rhoE", "^(package|service) [A-Za-z0-9.]+", "proto/activity"],
      {
        cwd: ROOT,
        encoding: "utf8",
      },
    );
    let inPackage = "";
    const inProtos = protos.split("\n").flatMap((line) => {
      const [word, name = ""] = line.split(" ");
      if (word === "package") inPackage = name;
      return word === "service" ? `${inPackage}.${name}` : [];
    });
    const internal = [
      "activity.dispatch.v1.DispatchService",
      "activity.read.v1.AdmissionService",
      "activity.read.v1.FeedChangeService",
    ];
    expect([...services, ...internal].toSorted()).toEqual(inProtos.toSorted());
  });
});
