import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { createLocalCredential } from "../../dev-stack/src/local-credential.ts";
import { readLocalSettings, writeLocalSettings } from "../../dev-stack/src/local-settings.ts";
import { ROOT } from "../architecture/import-rule.ts";
import { useTestDatabase } from "../harness/database.ts";
import { listenLocally } from "../harness/listening.ts";
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
  const { DATABASE_URL: _, DATABASE_URL_FILE: __, ...machine } = process.env;
  const own = { DATA_DIR: join(folder, "data"), PORT: "0", CORE_PORT: "0", DASHBOARD_PORT: "0" };
  return { ...machine, ...own, ...env };
}
/** Runs what `npm start` runs. */
const start = (env?: NodeJS.ProcessEnv) => run("dev-stack/src/start.mjs", environment(env));

/** Starts `npm start`, and waits until it is ready. */
async function started(env?: NodeJS.ProcessEnv) {
  const one = start(env);
  await one.untilSaid("Ctrl-C stops everything.");
  return { one, output: one.output() };
}

/** Ends `npm start` as Ctrl-C does: the terminal and npm both send a signal. Checks that no process is left. */
async function interrupt(one: Run): Promise<void> {
  one.child.kill("SIGINT");
  await wait(50);
  expect(await one.end("SIGINT")).toBe(0);
  expect(one.output()).not.toMatch(/\n\s+at /);
  expectNoProcess();
}
function expectNoProcess(): void {
  // Servers have the folder in their arguments; `npm start` has it in its environment only.
  const command = "grep -lsF -f - /proc/[0-9]*/{cmdline,environ} || true";
  expect(execFileSync("bash", ["-c", command], { input: folder, encoding: "utf8" })).toBe("");
}

/** Runs `npm start` where it cannot start. Checks that it ends with 1 and prints no stack. Returns its output. */
async function refused(env: NodeJS.ProcessEnv): Promise<string> {
  const one = start(env);
  expect(await one.ended).toBe(1);
  expect(one.output()).not.toMatch(/\n\s+at /);
  return one.output();
}

/** Runs the printed lines in a shell, as a reader behind a proxy would. Nothing serves this proxy. */
function paste(output: string): string {
  const lines = output.match(/^ {2}(export |curl ).*$/gm) ?? [];
  expect(lines).toHaveLength(4);
  const script = lines.join("\necho\n");
  // Empties both, because curl reads NO_PROXY if `no_proxy` is empty.
  const env = { ...process.env, http_proxy: "http://127.0.0.1:1", no_proxy: "", NO_PROXY: "" };
  return execFileSync("bash", ["-ec", script], { encoding: "utf8", env });
}

const runTool = async (given: NodeJS.ProcessEnv, ...args: string[]) => {
  const env = { ...process.env, DATA_DIR: join(folder, "data"), ...given };
  return (await promisify(execFile)(process.execPath, args, { cwd: ROOT, env })).stdout;
};

/** Runs the printed `npm run demo` line, and others like it. */
const demo = (...args: readonly string[]) => runTool({}, "tools/demo/demo.ts", ...args);
const donate = (donorName: string) => demo("donate", donorName, "500");

/** Waits until `npm start` has printed the webhook event of a donation. */
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
      const texts = body?.pipeThrough(new TextDecoderStream()) ?? [];
      for await (const text of texts) heard.text += text;
    })
    .catch(() => undefined); // The stream fails when the hub ends.
  return heard;
}
const keyIn = (output: string) => /act_live_[0-9a-f]{64}/.exec(output)?.[0];

/** What the start without Temporal printed. */
let firstOutput: string;

it("npm start ends in order at a Ctrl-C while it writes the demo account, which the next start continues", async () => {
  const settings = join(folder, "data", "local.json");
  const one = start(NO_TEMPORAL);
  const isWriting = () =>
    existsSync(settings) && readFileSync(settings, "utf8").includes("serviceCredential");
  await vi.waitUntil(isWriting, { timeout: 60_000, interval: 5 });
  await interrupt(one);
});

/** Continues the interrupted start. Other machines may read from this product. */
describe("npm start without Temporal", () => {
  let one: Run;
  let output: string;
  beforeAll(async () => {
    const page = join(folder, "page");
    mkdirSync(page);
    writeFileSync(join(page, "index.html"), "<!doctype html>");
    const given = { HOST: "0.0.0.0", CORE_HOST: "127.0.0.2", DASHBOARD_FILES: page };
    // Empty variables count as unset.
    const empty = { CURSOR_KEYS: "", SECRET_KEYS: "", DASHBOARD_URL: "", DASHBOARD_API_URL: "" };
    ({ one, output } = await started({ ...given, ...NO_TEMPORAL, ...empty }));
    firstOutput = output;
  });

  it("prints a key and commands that work when pasted, for the addresses that it listens on", () => {
    expect(output).toMatch(/^ {2}Core {7}127\.0\.0\.2:\d+ /m);
    const [me, latest, donations] = paste(output)
      .trim()
      .split(/\n+/)
      .map((line) => JSON.parse(line));
    expect(me.data).toMatchObject({ username: "demo", scopes: ["activity:read"] });
    expect(latest.data).toHaveLength(5);
    expect(donations.data.every(({ type }: { type: string }) => type === "donation")).toBe(true);
  });

  it("prints a link into the demo account's dashboard, and the tool prints another", async () => {
    const [link = ""] = /http:\/\/localhost:\d+\/#code=[0-9a-f]{64}/.exec(output) ?? [];
    for (const url of [link, (await runTool({}, "tools/dashboard.ts")).trim()]) {
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
  });

  it.each([
    ["dashboard.ts", []],
    ["demo/demo.ts", ["donate", "Ada", "500"]],
  ])("is not taken for another folder's by tools/%s", async (tool, args) => {
    const dataDir = join(folder, "elsewhere");
    mkdirSync(dataDir, { recursive: true });
    const own = await readLocalSettings(join(folder, "data", "local.json"));
    await writeLocalSettings(join(dataDir, "local.json"), { ...own, serviceCredential: "other" });
    const asked = runTool({ DATA_DIR: dataDir, HOST: "x86_64-linux" }, `tools/${tool}`, ...args);
    await expect(asked).rejects.toThrow(/^.*\nRun `npm start` first, in another terminal\.\n$/);
  });

  it("prints an overlay's address, and shows there what npm run demo writes", async () => {
    const overlay = overlayIn(output);
    expect((await fetch(overlay)).status).toBe(200);
    await demo("donate", "Ada", "1500", "For the stream");
    expect(await demo("refund", "500")).toMatch(/^Refunded: 500 cents of don_/);
    expect(await demo("dispute")).toMatch(/^Disputed: don_/);
    expect(await demo("dispute", "won")).toMatch(/^The dispute is won: don_/);
    const kinds = ["follow", "subscribe", "giftsub", "cheer", "raid"];
    const recorded = await Promise.all(kinds.map((kind) => demo(kind, "Bea", "3")));
    for (const said of recorded) expect(said).toMatch(/^Recorded: evt_/);
    const heard = listenTo(overlay);
    const types = ["donation", "follow", "subscription", "giftsub", "cheer", "raid"];
    const isShown = (type: string) => heard.text.includes(`"type":"${type}"`);
    await vi.waitUntil(() => types.every(isShown), 20_000);
    await expect(demo("cheer", "Bea", "many")).rejects.toThrow('"many" is no whole number');
  });

  it("prints a donation's webhook event", async () => {
    expect(output).toMatch(/^Deliveries that fail wait to be retried: TEMPORAL_CLI names/m);
    expect(await donate("Early")).toMatch(/^Donated: 500 cents as don_/);
    expect(paste(output)).toContain("Early");
    await untilPrinted(one, "Early");
  });

  it("ends with 0 at SIGTERM, and leaves no process", async () => {
    expect(await one.end("SIGTERM")).toBe(0);
    expectNoProcess();
  });
});

/** Continues on the data of the start without Temporal. */
describe("npm start with Temporal", () => {
  let one: Run;
  let output: string;
  beforeAll(async () => {
    // A proxy for gRPC that nothing serves, also for addresses in the machine's `no_proxy`.
    const proxy = { grpc_proxy: "http://127.0.0.1:1", no_grpc_proxy: "none" };
    const other = { TEMPORAL_NAMESPACE: "other", TEMPORAL_API_KEY: "other", TEMPORAL_TLS: "true" };
    ({ one, output } = await started({ ...proxy, ...other }));
  });

  it("finds its own Temporal, whatever proxy or other Temporal the environment names", async () => {
    expect(output).not.toContain("Deliveries that fail wait");
    const log = () => readFileSync(join(folder, "data", "product.log"), "utf8");
    await expect.poll(log).toContain("deliveries run");
  });

  it("prints a donation's webhook event", async () => {
    await donate("Late");
    await untilPrinted(one, "Late");
  });

  it("keeps data, key and the overlay's address through its end, kill -9 and two more starts", async () => {
    const tokenIn = (text: string) => overlayIn(text).searchParams.get("token");
    const feed = paste(output);
    expect(feed).toContain("Early");
    await one.end("SIGKILL");
    const again = await started();
    for (const before of [firstOutput, output]) {
      expect(keyIn(again.output)).toBe(keyIn(before));
      expect(tokenIn(again.output)).toBe(tokenIn(before));
    }
    expect(paste(again.output)).toBe(feed);
    one = again.one;
  });

  it("refuses a second start in one line", async () => {
    const second = await refused({});
    expect(second).toMatch(/in use by another copy of this program/);
    expect(second.trim().split("\n")).toHaveLength(1);
  });

  it("leaves no process at Ctrl-C", () => interrupt(one));
});

describe("npm start", () => {
  it("renews the credential of its tools, and ends with everything that it started when npm is stopped", async () => {
    const dataDir = join(folder, "given");
    mkdirSync(dataDir);
    const settings = join(dataDir, "local.json");
    const serviceCredential = await createLocalCredential(database.url);
    await writeLocalSettings(settings, {
      ...(await readLocalSettings(settings)),
      serviceCredential,
    });
    await database.query("UPDATE service_credential SET expires_at = created_at + 600000000");
    const npm = runNpm(environment({ DATABASE_URL: database.url, DATA_DIR: dataDir }));
    await npm.untilSaid("Ctrl-C stops everything.");
    const days = "SELECT (expires_at - created_at) DIV 86400000000 AS days FROM service_credential";
    await expect.poll(() => database.query(days)).toEqual([{ days: 90 }]);
    await npm.end("SIGTERM");
    await vi.waitFor(expectNoProcess, { timeout: 60_000 });
  });

  it("says in one sentence what to do when its port is taken, and leaves no process", async () => {
    const other = createServer();
    const port = await listenLocally(other);
    const said = await refused({ PORT: `${port}`, ...NO_TEMPORAL });
    other.close();
    const sentence = said.trim().split("\n").at(-1);
    expect(sentence).toMatch(new RegExp(`^Port ${port} is taken by another program: .*PORT=8081`));
    expectNoProcess();
  });

  it.each([
    [
      { PORT: "80a", TRUSTED_PROXIES: "x", CORE_TLS_CERT: "core.pem" },
      [
        /^PORT must be a whole number from 0 to 65535/m,
        /^TRUSTED_PROXIES must be CIDRs separated by commas/m,
        /^CORE_TLS_CERT cannot be used by npm start, .*by itself/m,
      ],
    ],
    [{ DATABASE_URL: "mysql://user:geheim@127.0.0.1:1/x" }, [/DATABASE_URL|127\.0\.0\.1:1/]],
    [{ DATABASE_URL: undefined, MYSQLD: "/no/such/program" }, [/MYSQLD/]],
    [
      // An address for documentation (RFC 5737).
      { CORE_HOST: "192.0.2.1", ALLOW_PLAINTEXT: "trusted-network" },
      [/HOST, CORE_HOST, .* or METRICS_HOST is no address of this machine/],
    ],
    [{ HOST: "x86_64-conda-linux-gnu" }, [/^HOST must be an address of this machine/]],
    [{ REDIS_URL: "redis://:geheim@127.0.0.1:1" }, [/^REDIS_URL points at 127\.0\.0\.1:1, /m]],
    [{ CORE_HOST: "0.0.0.0" }, [/^CORE_HOST lets other machines in/m]],
  ])("says in one sentence each what is wrong with %o", async (env, sentences) => {
    const given = { DATABASE_URL: database.url, DATA_DIR: join(folder, "other") };
    const output = await refused({ ...given, ...NO_TEMPORAL, ...env });
    for (const sentence of sentences) expect(output).toMatch(sentence);
    expect(output).not.toContain("geheim");
  });
});
