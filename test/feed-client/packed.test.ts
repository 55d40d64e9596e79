import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { findFreePort } from "../../dev-stack/src/free-port.ts";
import { FEED_ERROR_CODES } from "../../feed/src/index.ts";
import { readCodeBlocks } from "../../receiver-kit/test/docs/code-blocks.ts";
import { createPaidDonation, createReader } from "../harness/builders.ts";
import { installPacked } from "../harness/packed-project.ts";
import { useTestStack } from "../harness/stack.ts";
import { useFolder } from "../harness/use-started.ts";
import { useRuns, watch } from "../start/harness-program.ts";
import { baseUrlOf, FEED_FOLDER } from "./harness-feed.ts";

const blocks = readCodeBlocks("README.md", FEED_FOLDER);
const PATIENCE = { timeout: 30_000 };
/** The options of polls that store a record at each try. A follower gets no record that is older than its start. */
const SLOWLY = { timeout: 30_000, interval: 1_500 };

const stack = useTestStack();
const project = useFolder("feed-packed");
let env: NodeJS.ProcessEnv;
let accountId: string;
/** The oldest Node that the package supports. */
let node: string;

beforeAll(async () => {
  const reader = await createReader(stack);
  ({ accountId } = reader);
  env = { ...process.env, ACTIVITY_KEY: reader.apiKey, BASE_URL: baseUrlOf(stack) };
  node = installPacked("feed", project);
}, 300_000);

/** Writes an example of the README. Changes only its addresses. */
function writeExample(name: string, port = 3_000): string {
  const code = blocks.get(name) ?? expect.unreachable(name);
  const withKey = code.replace("ACTIVITY_KEY", "ACTIVITY_KEY, baseUrl: process.env.BASE_URL");
  writeFileSync(join(project, name), withKey.replace("3000", `${port}`));
  return name;
}
/** Starts the oldest Node, or another program. */
const start = useRuns((args: readonly string[], variables?: NodeJS.ProcessEnv, program?: string) =>
  watch(spawn(program ?? node, args, { cwd: project, env: variables ?? env })),
);
const donate = (donorName: string) => createPaidDonation(stack, accountId, { donorName });
const run = promisify(execFile);
/** The names of the printed records' actors. */
const NAMES = /(?<=name: ')\w+/g;
const CLI = "node_modules/@activity/feed/dist/esm/cli/main.js";

describe("@activity/feed, packed and installed in a bare project", () => {
  it("shows donations with the README's first three lines, and continues after a crash", async () => {
    const name = writeExample("overlay.js");
    const first = start([name]);
    await vi.waitUntil(() => existsSync(join(project, "overlay.cursor")), PATIENCE);
    await donate("Ada");
    await first.untilSaid("'Ada'");
    await donate("Bea");
    await first.untilSaid("'Bea'");
    await first.end("SIGKILL");
    await donate("Cai");
    const second = start([name]);
    await second.untilSaid("'Cai'");
    expect(first.output().match(NAMES)).toEqual(["Ada", "Bea"]);
    // The kill came in the pause after Bea. Her record may be missing in the checkpoint.
    expect(second.output().match(NAMES)?.join()).toMatch(/^(Bea,)?Cai$/);
  });

  it("reads history, and follows beside a webhook's receiver, as the README shows", async () => {
    const history = start([writeExample("history.js")]);
    await history.untilSaid("euro");
    expect(history.output()).toMatch(/^Streamer ★, until 20.*Z\n15 euro\n$/);
    const port = await findFreePort();
    const webhook = start([writeExample("webhook.js", port)]);
    await vi.waitUntil(async () => {
      await donate("Dan");
      return webhook.output();
    }, SLOWLY);
    expect(webhook.output()).toMatch(/^don_/);
    expect((await fetch(`http://127.0.0.1:${port}`, { method: "POST" })).status).toBe(204);
  });

  it("runs the hub, and a bot of the hub without a key", async () => {
    const hub = start([CLI, "hub", "--port", "0", "--base-url", env.BASE_URL ?? ""]);
    const [, socket = ""] = /Socket {4}(\S+)/.exec(await hub.untilSaid("Socket")) ?? [];
    const bot = start(
      ["--input-type=module", "-e", blocks.get("bot.js") ?? ""],
      { PATH: process.env.PATH, HUB_SOCKET: `${socket}&after=0` },
      process.execPath,
    );
    await vi.waitUntil(async () => {
      await donate("Eve");
      return bot.output();
    }, SLOWLY);
    expect(bot.output()).toContain("donation: Eve 500 cents");
  });

  it("has a command line that npx runs", async () => {
    const args = ["--no-install", "@activity/feed", "me", "--base-url", env.BASE_URL ?? ""];
    const { stdout } = await run("npx", args, { cwd: project, env });
    expect(stdout).toContain("Account   Streamer ★");
  });

  it("can be loaded with require", async () => {
    const code = `const { follow, FeedError } = require("@activity/feed");
      try { follow({ apiKey: "" }) } catch (error) { console.log(error instanceof FeedError, error.code) }`;
    const { stdout } = await run(node, ["--input-type=commonjs", "-e", code], { cwd: project });
    expect(stdout).toBe("true invalid_option\n");
  });

  it("asks for an own checkpoint in a runtime without files", async () => {
    const code = `import { file } from "@activity/feed";
      try { file("x") } catch (error) { console.log(error.message) }`;
    const args = ["--conditions=workerd", "--input-type=module", "-e", code];
    const { stdout } = await run(node, args, { cwd: project });
    expect(stdout).toContain("pass a checkpoint of your own");
  });
});

it("the README names all error codes, and its checkpoint example loads what it saved", async () => {
  const text = readFileSync(join(FEED_FOLDER, "README.md"), "utf8");
  const named = text.matchAll(/^\| `([a-z]+_[a-z_]+|unavailable)` +\| /gm);
  expect([...named].map(([, code]) => code)).toEqual(FEED_ERROR_CODES);
  const path = join(project, "own-checkpoint.mjs");
  writeFileSync(path, blocks.get("own-checkpoint.js") ?? "");
  const { createCheckpoint } = await import(path);
  const kept = new Map<string, string>();
  const store = { get: async (name: string) => kept.get(name), put: kept.set.bind(kept) };
  const checkpoint = createCheckpoint(store);
  expect(await checkpoint.load()).toBeNull();
  await checkpoint.save({ version: 1 });
  expect(await checkpoint.load()).toEqual({ version: 1 });
});
