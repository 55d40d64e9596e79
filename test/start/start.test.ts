import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { ROOT } from "../architecture/import-rule.ts";
import { useTestDatabase } from "../harness/database.ts";
import { useFolder } from "../harness/use-started.ts";
import { type Run, usePrograms, useRuns, watch } from "./harness-program.ts";

const folder = useFolder("start");
const database = useTestDatabase();
const run = usePrograms();
const NO_TEMPORAL = { TEMPORAL_CLI: "/no/such/program" };

const runNpm = useRuns((env: NodeJS.ProcessEnv) =>
  watch(spawn("npm", ["start"], { cwd: ROOT, env })),
);

/** The environment of `npm start` with its own data and ports. */
function environment(env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { DATABASE_URL: _, ...machine } = process.env;
  const own = { DATA_DIR: join(folder, "data"), PORT: "0", CORE_PORT: "0", DASHBOARD_PORT: "0" };
  return { ...machine, ...own, ...env };
}
/** Runs what `npm start` runs. */
const start = (env?: NodeJS.ProcessEnv) => run("dev-stack/src/start.mjs", environment(env));

/** Starts it and waits until it is ready. */
async function started(env?: NodeJS.ProcessEnv) {
  const one = start(env);
  await one.untilSaid("Ctrl-C stops everything.");
  return { one, output: one.output() };
}

/** Ends it with Ctrl-C, at which the terminal and npm both signal it. Checks that it leaves no process. */
async function interrupt(one: Run): Promise<void> {
  one.child.kill("SIGINT");
  await wait(50);
  expect(await one.end("SIGINT")).toBe(0);
  expectNoProcess();
}
function expectNoProcess(): void {
  const command = `pgrep -fa -- "${folder}" | grep -v pgrep || true`;
  expect(execFileSync("bash", ["-c", command], { encoding: "utf8" })).toBe("");
}

/** Starts what cannot start. Checks that it ends with 1 and prints no stack. Returns its output. */
async function refused(env: NodeJS.ProcessEnv): Promise<string> {
  const one = start(env);
  expect(await one.ended).toBe(1);
  expect(one.output()).not.toMatch(/\n\s+at /);
  return one.output();
}

/** Runs the printed lines in a shell, as a reader would. */
function paste(output: string): string {
  const lines = output.match(/^ {2}(KEY=|curl ).*$/gm) ?? [];
  expect(lines).toHaveLength(4);
  const script = lines.join("\necho\n");
  return execFileSync("bash", ["-ec", script], { encoding: "utf8" });
}

const runTool = (...args: string[]) =>
  execFileSync(process.execPath, args, {
    ...{ cwd: ROOT, encoding: "utf8", env: { ...process.env, DATA_DIR: join(folder, "data") } },
  });

/** Runs the printed `npm run demo` line, and others like it. */
const demo = (...args: readonly string[]) => runTool("tools/demo.ts", ...args);
const donate = (donorName: string) => demo("donate", donorName, "500");

/** Waits until a run has printed the webhook event of a donation. */
async function untilPrinted(one: Run, donorName: string): Promise<void> {
  const line = new RegExp(`^Webhook event {2}.*"donation.created".*"${donorName}"`, "m");
  await vi.waitUntil(() => line.test(one.output()), { timeout: 20_000 });
}

const overlayIn = (output: string) => new URL(/^ {2}Overlay {4}(\S+)$/m.exec(output)?.[1] ?? "");
/** Collects the events that an overlay's hub has kept and those that follow. */
function listenTo({ href }: URL): { text: string } {
  const heard = { text: "" };
  fetch(`${href.replace("/overlay", "/events")}&after=0`)
    .then(async ({ body }) => {
      const decoder = new TextDecoder();
      for await (const chunk of body ?? []) heard.text += decoder.decode(chunk, { stream: true });
    })
    .catch(() => undefined); // The stream ends with the hub.
  return heard;
}
const keyIn = (output: string) => /act_live_[0-9a-f]{64}/.exec(output)?.[0];

describe("npm start", () => {
  it("prints a key and commands that work when pasted, for the addresses that it listens on; Ctrl-C leaves no process", async () => {
    const { one, output } = await started({ HOST: "0.0.0.0", CORE_HOST: "127.0.0.2" });
    expect(output).toMatch(/^ {2}Core {7}127\.0\.0\.2:\d+ /m);
    const [me, latest, donations] = paste(output)
      .trim()
      .split(/\n+/)
      .map((line) => JSON.parse(line));
    expect(me.data).toMatchObject({ username: "demo", scopes: ["activity:read"] });
    expect(latest.data).toHaveLength(5);
    expect(donations.data.every(({ type }: { type: string }) => type === "donation")).toBe(true);
    await interrupt(one);
  });

  it("ends with everything that it started when npm is stopped", async () => {
    const npm = runNpm(environment(NO_TEMPORAL));
    await npm.untilSaid("Ctrl-C stops everything.");
    await npm.end("SIGTERM");
    await vi.waitFor(expectNoProcess, { timeout: 60_000 });
  });

  it("prints a link into the demo account's dashboard, and the tool prints another", async () => {
    const page = join(folder, "page");
    mkdirSync(page);
    writeFileSync(join(page, "index.html"), "<!doctype html>");
    const { one, output } = await started({ DASHBOARD_FILES: page, ...NO_TEMPORAL });
    const [link = ""] = /http:\/\/localhost:\d+\/#code=[0-9a-f]{64}/.exec(output) ?? [];
    for (const url of [link, runTool("tools/dashboard.ts").trim()]) {
      const { origin, hash } = new URL(url);
      expect(await (await fetch(origin)).text()).toBe("<!doctype html>");
      const path = "/activity.dashboard.v1.SessionService/ExchangeCode";
      const connect = { "connect-protocol-version": "1", "content-type": "application/json" };
      const answer = await fetch(`${origin}${path}`, {
        method: "POST",
        headers: { origin, ...connect },
        body: JSON.stringify({ code: hash.slice("#code=".length) }),
      });
      expect(await answer.json()).toMatchObject({ session: { username: "demo" } });
    }
    await interrupt(one);
  });

  it("prints an overlay's address that stays the same, and shows there what npm run demo writes", async () => {
    const { one, output } = await started(NO_TEMPORAL);
    const overlay = overlayIn(output);
    expect((await fetch(overlay)).status).toBe(200);
    demo("donate", "Ada", "1500", "For the stream");
    expect(demo("refund", "500")).toMatch(/^Refunded: 500 cents of don_/);
    expect(demo("dispute")).toMatch(/^Disputed: don_/);
    expect(demo("dispute", "won")).toMatch(/^The dispute is won: don_/);
    const kinds = ["follow", "subscribe", "giftsub", "cheer", "raid"];
    for (const kind of kinds) expect(demo(kind, "Bea", "3")).toMatch(/^Recorded: evt_/);
    const heard = listenTo(overlay);
    const types = ["donation", "follow", "subscription", "giftsub", "cheer", "raid"];
    const isShown = (type: string) => heard.text.includes(`"type":"${type}"`);
    await vi.waitUntil(() => types.every(isShown), 20_000);
    expect(() => demo("cheer", "Bea", "many")).toThrow('"many" is no whole number');
    await interrupt(one);
    const again = await started(NO_TEMPORAL);
    const token = overlayIn(again.output).searchParams.get("token");
    expect(token).toBe(overlay.searchParams.get("token"));
    await interrupt(again.one);
    // Starts the product twice and the tool ten times.
  }, 120_000);

  it("ends in order at a Ctrl-C while the demo account is written", async () => {
    const dataDir = join(folder, "interrupted");
    const settings = join(dataDir, "local.json");
    const one = start({ DATA_DIR: dataDir });
    const isWriting = () =>
      existsSync(settings) && readFileSync(settings, "utf8").includes("serviceCredential");
    await vi.waitUntil(isWriting, { timeout: 60_000, interval: 5 });
    await interrupt(one);
    expect(one.output()).not.toContain("The activity API runs.");
    expect(one.output()).not.toMatch(/\n\s+at /);
  });

  it("prints a donation's webhook event, with Temporal or without", async () => {
    const without = await started(NO_TEMPORAL);
    const reason = /^Deliveries that fail wait to be retried: TEMPORAL_CLI names/m;
    expect(without.output).toMatch(reason);
    expect(donate("Early")).toMatch(/^Donated: don_/);
    expect(paste(without.output)).toContain("Early");
    await untilPrinted(without.one, "Early");
    await interrupt(without.one);

    const { one } = await started();
    donate("Late");
    await untilPrinted(one, "Late");
    await interrupt(one);
    // Starts the product twice and the tool twice.
  }, 240_000);

  it("keeps data and key through kill -9 and a second start", async () => {
    const killed = await started();
    const feed = paste(killed.output);
    await killed.one.end("SIGKILL");
    const { one, output } = await started();
    expect(keyIn(output)).toBe(keyIn(killed.output));
    expect(paste(output)).toBe(feed);

    const second = await refused({});
    expect(second).toMatch(/in use by another copy of this program/);
    expect(second.trim().split("\n")).toHaveLength(1);
    expect(await one.end("SIGTERM")).toBe(0);
  });

  it("renews the credential of its tools at every start", async () => {
    const data = { DATABASE_URL: database.url, DATA_DIR: join(folder, "given") };
    const first = await started({ ...data, ...NO_TEMPORAL });
    await interrupt(first.one);
    await database.query("UPDATE service_credential SET expires_at = created_at + 600000000");
    const again = await started({ ...data, ...NO_TEMPORAL });
    const days = "SELECT (expires_at - created_at) DIV 86400000000 AS days FROM service_credential";
    await expect.poll(() => database.query(days)).toEqual([{ days: 90 }]);
    await interrupt(again.one);
  });

  it("says in one sentence what to do when its port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const sentence = (await refused({ PORT: `${port}` })).trim().split("\n").at(-1);
    other.close();
    expect(sentence).toMatch(new RegExp(`^Port ${port} is taken by another program: .*PORT=8081`));
    expectNoProcess();
  });

  it.each([
    [{ PORT: "80a" }, /^PORT must be a whole number from 0 to 65535/],
    [{ TRUSTED_PROXIES: "x" }, /^TRUSTED_PROXIES must be CIDRs separated by commas/],
    [{ CORE_TLS_CERT: "core.pem" }, /^CORE_TLS_CERT cannot be used by npm start, .*by itself/],
    [{ DATABASE_URL: "mysql://user:geheim@127.0.0.1:1/x" }, /DATABASE_URL|127\.0\.0\.1:1/],
    [{ MYSQLD: "/no/such/program" }, /MYSQLD/],
    // An address for documentation (RFC 5737).
    [{ HOST: "192.0.2.1" }, /HOST, CORE_HOST or DASHBOARD_HOST is no address of this machine/],
    [
      { CORE_HOST: "192.0.2.1", ALLOW_PLAINTEXT: "trusted-network" },
      /HOST, CORE_HOST or DASHBOARD_HOST is no address of this machine/,
    ],
    [{ CORE_HOST: "0.0.0.0" }, /^CORE_HOST lets other machines in/m],
  ])("says in one sentence what is wrong with %o", async (env, sentence) => {
    const output = await refused({ ...env, ...NO_TEMPORAL, DATA_DIR: join(folder, "other") });
    expect(output).toMatch(sentence);
    expect(output).not.toContain("geheim");
  });
});
