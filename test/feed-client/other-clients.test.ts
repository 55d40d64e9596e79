import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApiKeyService } from "@activity/proto";
import { beforeAll, expect, it, vi } from "vitest";
import { readCodeBlocks } from "../../receiver-kit/test/docs/code-blocks.ts";
import { findGo } from "../../receiver-kit/test/docs/go-toolchain.ts";
import { createPlatformEvent, createReader, importDonations } from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";
import { useFolder } from "../harness/use-started.ts";
import { useRuns, watch } from "../start/harness-program.ts";
import { baseUrlOf, FEED_FOLDER } from "./harness-feed.ts";

const blocks = readCodeBlocks("docs/other-languages.md", FEED_FOLDER);
/** The rows of the longest batch. */
const IMPORTED = 1_000;
const PATIENCE = { timeout: 40_000, interval: 50 };
/** The options of polls after an import: followers sync each record to the disk, which may be slow. */
const IMPORT_PATIENCE = { ...PATIENCE, timeout: 150_000 };

const stack = useTestStack();
const folder = useFolder("languages");
let go: string;
beforeAll(async () => {
  go = await findGo();
});

/** Prepares a language's file. Returns the command that runs it. */
const LANGUAGES: Readonly<Record<string, (place: string) => Promise<string[]>>> = {
  async Python(place) {
    writeFileSync(join(place, "follow.py"), blocks.get("follow.py") ?? "");
    return ["python3", "follow.py"];
  },
  async Go(place) {
    writeFileSync(join(place, "main.go"), blocks.get("main.go") ?? "");
    writeFileSync(join(place, "go.mod"), "module follower\n\ngo 1.21\n");
    execFileSync(go, ["vet", "."], { cwd: place, stdio: "pipe" });
    // Builds the follower first, so that the kill hits it and not `go run`.
    execFileSync(go, ["build", "-o", "follower", "."], { cwd: place, stdio: "pipe" });
    return [join(place, "follower")];
  },
};

const start = useRuns(
  ([program = "", ...args]: readonly string[], cwd: string, variables: NodeJS.ProcessEnv) =>
    watch(spawn(program, args, { cwd, env: { ...process.env, ...variables } })),
);
const idsIn = (text: string) => [...text.matchAll(/(?:don|evt)_[a-z0-9]{15}/g)].map(([id]) => id);

it.each(Object.entries(LANGUAGES))(
  "a killed follower in %s loses nothing and repeats at most one record; a revoked key ends it",
  async (name, prepare) => {
    const place = join(folder, name);
    mkdirSync(place);
    const command = await prepare(place);
    const { accountId, apiKey, apiKeyId } = await createReader(stack);
    const env = { ACTIVITY_KEY: apiKey, ACTIVITY_URL: baseUrlOf(stack) };
    const ids: string[] = [];
    const store = async (count: number) => {
      for (let index = 0; index < count; index += 1) {
        ids.push(`evt_${await createPlatformEvent(stack, accountId)}`);
      }
    };
    await store(120);
    const first = start(command, place, env);
    await vi.waitUntil(() => idsIn(first.output()).length >= 110, PATIENCE);
    first.child.kill("SIGKILL");
    await first.closed;
    await store(5);
    const second = start(command, place, env);
    const printed = () => idsIn(`${first.output()}\n${second.output()}`);
    const isComplete = () => new Set(printed()).size === ids.length;
    await vi.waitUntil(isComplete, PATIENCE);
    await store(1);
    await vi.waitUntil(isComplete, PATIENCE);
    expect([...new Set(printed())]).toEqual(ids);
    // A record may come again if the kill came between its print and its checkpoint.
    expect(printed().length).toBeLessThanOrEqual(ids.length + 1);
    await stack.client(ApiKeyService).revokeApiKey({ accountId, apiKeyId });
    expect(await second.closed).toBe(1);
    expect(second.output()).toContain("invalid_api_key");
    expect(second.output()).not.toContain(apiKey);
  },
  200_000,
);

it.each(Object.entries(LANGUAGES))(
  "a follower in %s repeats at most one record of a long import when it starts again without a cursor",
  async (name, prepare) => {
    const place = join(folder, `${name}-import`);
    mkdirSync(place);
    const command = await prepare(place);
    const { accountId, apiKey } = await createReader(stack);
    const env = { ACTIVITY_KEY: apiKey, ACTIVITY_URL: baseUrlOf(stack) };
    await importDonations(stack, accountId, IMPORTED);
    const first = start(command, place, env);
    await vi.waitUntil(() => idsIn(first.output()).length === IMPORTED, IMPORT_PATIENCE);
    first.child.kill("SIGKILL");
    await first.closed;
    const path = join(place, "overlay.cursor");
    const saved = readFileSync(path, "utf8");
    writeFileSync(path, saved.replace(/("cursor": ?)"[^"]*"/i, "$1null"));
    const later = `evt_${await createPlatformEvent(stack, accountId)}`;
    const second = start(command, place, env);
    await vi.waitUntil(() => second.output().includes(later), PATIENCE);
    // A record may come again if the kill came between its print and its checkpoint.
    expect(idsIn(second.output()).length).toBeLessThanOrEqual(2);
  },
  200_000,
);
