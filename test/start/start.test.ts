import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { ROOT } from "../architecture/import-rule.ts";
import { useTestDatabase } from "../harness/database.ts";
import { useFolder } from "../harness/use-started.ts";
import { type Run, usePrograms } from "./harness-program.ts";

const START_TIMEOUT_MS = 60_000;

const folder = useFolder("start");

/** Runs `npm start` with its own data and ports. */
const run = usePrograms();
function start(env: NodeJS.ProcessEnv = {}): Run {
  const { DATABASE_URL: _, ...machine } = process.env;
  const own = { DATA_DIR: join(folder, "data"), PORT: "0", CORE_PORT: "0", DASHBOARD_PORT: "0" };
  return run("dev-stack/src/start.mjs", { ...machine, ...own, ...env });
}

async function untilReady(one: Run): Promise<string> {
  await one.untilSaid("Ctrl-C stops everything.");
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
async function printed(one: Run, donorName: string): Promise<void> {
  const line = new RegExp(`^Webhook event {2}.*"donation.created".*"${donorName}"`, "m");
  await vi.waitUntil(() => line.test(one.output()), { timeout: 20_000 });
}

const overlayIn = (output: string) => /^ {2}Overlay {4}(\S+)$/m.exec(output)?.[1] ?? "";
/** Collects the events that an overlay's hub has kept and those that follow. */
function listenTo(overlay: string): { text: string } {
  const heard = { text: "" };
  fetch(`${overlay.replace("/overlay", "/events")}&after=0`)
    .then(async ({ body }) => {
      const decoder = new TextDecoder();
      for await (const chunk of body ?? []) heard.text += decoder.decode(chunk, { stream: true });
    })
    .catch(() => undefined); // The stream ends with the hub.
  return heard;
}
const keyIn = (output: string) => /act_live_[0-9a-f]{64}/.exec(output)?.[0];
const processesOf = () =>
  execFileSync("bash", ["-c", `pgrep -fa -- "${folder}" | grep -v pgrep || true`], {
    encoding: "utf8",
  });

const database = useTestDatabase();

describe("npm start", () => {
  it("ends with a key and lines that work when pasted; Ctrl-C leaves nothing behind", async () => {
    const first = start();
    const output = await untilReady(first);
    const [me, latest, donations] = paste(output)
      .trim()
      .split(/\n+/)
      .map((line) => JSON.parse(line));
    expect(me.data).toMatchObject({ username: "demo", scopes: ["activity:read"] });
    expect(latest.data).toHaveLength(5);
    expect(donations.data.every(({ type }: { type: string }) => type === "donation")).toBe(true);
    expect(await first.end("SIGINT")).toBe(0);
    expect(processesOf()).toBe("");
  });

  it("prints a link that lets a browser into the demo account's dashboard, and another when asked", async () => {
    const page = join(folder, "page");
    mkdirSync(page);
    writeFileSync(join(page, "index.html"), "<!doctype html>");
    const one = start({ DASHBOARD_FILES: page, TEMPORAL_CLI: "/no/such/program" });
    const [link = ""] =
      /http:\/\/localhost:\d+\/#code=[0-9a-f]{64}/.exec(await untilReady(one)) ?? [];
    const another = runTool("tools/dashboard.ts");
    for (const url of [link, another.trim()]) {
      const { origin, hash } = new URL(url);
      expect(await (await fetch(origin)).text()).toBe("<!doctype html>");
      const path = "/activity.dashboard.v1.SessionService/ExchangeCode";
      const answer = await fetch(`${origin}${path}`, {
        method: "POST",
        headers: {
          ...{ origin, "connect-protocol-version": "1" },
          "content-type": "application/json",
        },
        body: JSON.stringify({ code: hash.slice("#code=".length) }),
      });
      expect(await answer.json()).toMatchObject({ session: { username: "demo" } });
    }
    expect(await one.end("SIGINT")).toBe(0);
  });

  it("prints an overlay's address, which stays, and shows there what npm run demo makes happen", async () => {
    const env = { TEMPORAL_CLI: "/no/such/program" };
    const one = start(env);
    const overlay = overlayIn(await untilReady(one));
    expect((await fetch(overlay)).status).toBe(200);
    demo("donate", "Ada", "1500", "For the stream");
    expect(demo("refund", "500")).toMatch(/^Refunded: 500 cents of don_/);
    expect(demo("dispute")).toMatch(/^Disputed: don_/);
    expect(demo("dispute", "won")).toMatch(/^The dispute is won: don_/);
    const kinds = ["follow", "subscribe", "giftsub", "cheer", "raid"];
    for (const kind of kinds) expect(demo(kind, "Bea", "3")).toMatch(/^Recorded: evt_/);
    const heard = listenTo(overlay);
    const types = ["donation", "follow", "subscription", "giftsub", "cheer", "raid"];
    await vi.waitUntil(
      () => types.every((type) => heard.text.includes(`"type":"${type}"`)),
      20_000,
    );
    expect(() => demo("cheer", "Bea", "many")).toThrow('"many" is no whole number');
    expect(await one.end("SIGINT")).toBe(0);
    expect(processesOf()).toBe("");
    const again = start(env);
    const { searchParams } = new URL(overlayIn(await untilReady(again)));
    expect(searchParams.get("token")).toBe(new URL(overlay).searchParams.get("token"));
    expect(await again.end("SIGINT")).toBe(0);
  });

  it("ends in order at a Ctrl-C while the demo account is written", async () => {
    const dataDir = join(folder, "interrupted");
    const settings = join(dataDir, "local.json");
    const interrupted = start({ DATA_DIR: dataDir });
    const isWriting = () =>
      existsSync(settings) && readFileSync(settings, "utf8").includes("serviceCredential");
    await vi.waitUntil(isWriting, { timeout: START_TIMEOUT_MS, interval: 5 });
    expect(await interrupted.end("SIGINT")).toBe(0);
    expect(interrupted.output()).not.toContain("The activity API runs.");
    expect(interrupted.output()).not.toMatch(/\n\s+at /);
    expect(processesOf()).toBe("");
  });

  it("names and uses the addresses that it was told to listen on", async () => {
    const hosts = { HOST: "0.0.0.0", CORE_HOST: "127.0.0.2" };
    const elsewhere = start({ ...hosts, TEMPORAL_CLI: "/no/such/program" });
    const output = await untilReady(elsewhere);
    expect(output).toMatch(/^ {2}Core {7}127\.0\.0\.2:\d+ /m);
    expect(paste(output)).toContain("demo");
    expect(await elsewhere.end("SIGINT")).toBe(0);
  });

  it("prints a donation's webhook event, with Temporal or without", async () => {
    const without = start({ TEMPORAL_CLI: "/no/such/program" });
    const warning = await untilReady(without);
    expect(warning).toMatch(/^Deliveries that fail wait to be retried: TEMPORAL_CLI names/m);
    expect(donate("Early")).toMatch(/^Donated: don_/);
    expect(paste(warning)).toContain("Early");
    await printed(without, "Early");
    expect(await without.end("SIGINT")).toBe(0);

    const again = start();
    await untilReady(again);
    donate("Late");
    await printed(again, "Late");
    expect(await again.end("SIGINT")).toBe(0);
    expect(processesOf()).toBe("");
  });

  it("keeps data and key through kill -9 and a second start", async () => {
    const killed = start();
    const before = await untilReady(killed);
    const feed = paste(before);
    await killed.end("SIGKILL");
    const again = start();
    const after = await untilReady(again);
    expect(keyIn(after)).toBe(keyIn(before));
    expect(paste(after)).toBe(feed);

    const second = start();
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/in use by another copy of this program/);
    expect(second.output().trim().split("\n")).toHaveLength(1);
    expect(await again.end("SIGTERM")).toBe(0);
  });

  it("renews the credential of its tools at every start", async () => {
    const env = {
      DATABASE_URL: database.url,
      DATA_DIR: join(folder, "given"),
      TEMPORAL_CLI: "/no/such/program",
    };
    const first = start(env);
    await untilReady(first);
    expect(await first.end("SIGINT")).toBe(0);
    await database.query("UPDATE service_credential SET expires_at = created_at + 600000000");
    const again = start(env);
    await untilReady(again);
    const days = "SELECT (expires_at - created_at) DIV 86400000000 AS days FROM service_credential";
    await expect.poll(() => database.query(days)).toEqual([{ days: 90 }]);
    expect(await again.end("SIGINT")).toBe(0);
  });

  it("says in one sentence what to do when its port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const refused = start({ PORT: `${port}` });
    expect(await refused.ended).toBe(1);
    other.close();
    const sentence = refused.output().trim().split("\n").at(-1);
    expect(sentence).toMatch(new RegExp(`^Port ${port} is taken by another program: .*PORT=8081`));
    expect(processesOf()).toBe("");
  });

  it.each([
    [{ PORT: "80a" }, /^PORT must be a whole number from 0 to 65535/],
    [{ TRUSTED_PROXIES: "x" }, /^TRUSTED_PROXIES must be CIDRs separated by commas/],
    [{ CORE_TLS_CERT: "core.pem" }, /^CORE_TLS_CERT cannot be used by npm start, .*by itself/],
    [{ DATABASE_URL: "http://localhost/x" }, /DATABASE_URL/],
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
    const other = { DATA_DIR: join(folder, "other"), TEMPORAL_CLI: "/no/such/program" };
    const refused = start({ ...env, ...other } as Record<string, string>);
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toMatch(sentence);
    expect(refused.output()).not.toContain("geheim");
    expect(refused.output()).not.toMatch(/\n\s+at /);
  });
});
