import { execFile, execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { AccountService, DonationService, ImportService, Platform } from "@activity/proto";
import { Permission } from "@activity/server";
import { createClient } from "@connectrpc/connect";
import { beforeAll, describe, expect, it } from "vitest";
import { connectToCore, failureOf } from "../../proto/src/client-transport.ts";
import { readCodeBlocks } from "../../receiver-kit/test/docs/code-blocks.ts";
import { ROOT } from "../../tools/release/published.ts";
import { createAccount, unique } from "../harness/builders.ts";
import { METHODS } from "../harness/methods.ts";
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
  const blocks = readCodeBlocks("README.md", join(ROOT, "proto/client"));
  writeFileSync(join(project, "donate.ts"), blocks.get("donate.ts") ?? "");
});

/** Runs the compiled example with the oldest line of Node. Returns both streams, also if the example fails. */
async function donate(credential: string, args: readonly string[], port = stack.corePort) {
  const run = promisify(execFile)(node, ["donate.js", ...args], {
    cwd: project,
    env: { CORE_URL: `http://127.0.0.1:${port}`, SERVICE_CREDENTIAL: credential },
  });
  const { stdout, stderr } = await run.catch((failed: Awaited<typeof run>) => failed);
  return stdout + stderr;
}

describe("@activity/client, packed and installed in a bare project", () => {
  it("has declarations that compile strictly with the example of its README", () => {
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--ignoreConfig"];
    const modules = ["--module", "nodenext", "--target", "es2022", "--types", "node"];
    const args = [TSC, ...strict, ...modules, "donate.ts"];
    execFileSync(process.execPath, args, { cwd: project, stdio: "inherit" });
  });

  it("allows the same versions of Node as the packages that it needs", () => {
    const enginesOf = (name: string): string | undefined => {
      const manifest = join(project, "node_modules", name, "package.json");
      return JSON.parse(readFileSync(manifest, "utf8")).engines?.node;
    };
    const allowed = enginesOf("@activity/client");
    for (const name of PEERS) expect(enginesOf(name) ?? allowed, name).toBe(allowed);
  });

  it("writes to the running core from the oldest line of Node, and gets the codes of failures", async () => {
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

  it("repeats a write while the core is down, and fails with a code after four tries", async () => {
    const accountId = await createAccount(stack);
    const credential = await stack.credential(Permission.DonationWrite);
    let calls = 0;
    let refused = 2;
    const door = await openDoor(stack.corePort, () => ++calls > refused);
    const externalId = unique("donation");
    expect(await donate(credential, [accountId, externalId], door.port)).toMatch(/^don_/);
    [calls, refused] = [0, 99];
    const down = await donate(credential, [accountId, externalId], door.port);
    expect(down).toMatch(/^temporarily_unavailable: /);
    expect(calls).toBe(4);
    door.close();
  }, 60_000);

  it("has every service except those that only the product's processes call", () => {
    const list = `import * as client from "@activity/client";
      console.log(JSON.stringify(Object.values(client)
        .filter((each) => each.kind === "service").map((each) => each.typeName)));`;
    const args = ["--input-type=module", "--eval", list];
    const output = execFileSync(process.execPath, args, { cwd: project, encoding: "utf8" });
    const internal = ["dispatch.v1.Dispatch", "read.v1.Admission", "read.v1.FeedChange"];
    const names = [...JSON.parse(output), ...internal.map((name) => `activity.${name}Service`)];
    const all = new Set(METHODS.map(({ parent }) => parent.typeName));
    expect(names.toSorted()).toEqual([...all].toSorted());
  });
});

it("connectToCore replaces a silently cut connection within a call's deadline; streams have no deadline", async () => {
  const accountId = await createAccount(stack);
  const credential = await stack.credential(Permission.AccountRead, Permission.DonationImport);
  const door = await openDoor(stack.corePort);
  const core = connectToCore({ url: `http://127.0.0.1:${door.port}`, credential });
  const accounts = createClient(AccountService, core);
  await accounts.getAccount({ accountId });
  door.silenceOpen();
  expect((await accounts.getAccount({ accountId })).account?.id).toBe(accountId);

  // The first call ends while the client pings the connection for the second call.
  door.silenceOpen();
  const first = accounts.getAccount({ accountId }, { timeoutMs: 5_000 }).catch(failureOf);
  await setTimeout(4_500);
  expect((await accounts.getAccount({ accountId })).account?.id).toBe(accountId);
  expect(await first).toMatchObject({ code: "temporarily_unavailable" });

  const hasty = connectToCore({ url: `http://127.0.0.1:${door.port}`, credential, timeoutMs: 100 });
  async function* steps() {
    yield { step: { case: "opening" as const, value: { accountId, platform: Platform.CSV } } };
    await setTimeout(200);
  }
  for await (const _ of createClient(ImportService, hasty).importDonations(steps()));
  door.close();
}, 60_000);

it("connectToCore refuses a credential with the end of a line, and does not quote it", () => {
  const connect = () => connectToCore({ url: "http://127.0.0.1:1", credential: "geheim\n" });
  expect(connect).toThrow(/^credential must be visible ASCII\.$/);
});

it("connectToCore does not repeat a request that it cannot encode, and names the field", async () => {
  const core = connectToCore({ url: `http://127.0.0.1:${stack.corePort}`, credential: "x" });
  const request = { accountId: "a", externalId: "a", amountCents: 1.5 as unknown as bigint };
  const failure = createClient(DonationService, core).createDonation(request).catch(failureOf);
  const message = expect.stringContaining("amount_cents");
  expect(await failure).toEqual({ code: "invalid_parameter", message });
});
