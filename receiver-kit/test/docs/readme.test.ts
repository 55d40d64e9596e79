import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { transformSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { findFreePort } from "../../../dev-stack/src/free-port.ts";
import { untilListening } from "../../../test/harness/listening.ts";
import { startTestRedis as startRedis } from "../../../test/harness/redis.ts";
import { runCommand } from "../../src/cli/run-command.ts";
import { VERIFICATION_REASONS, VerificationError, type WebhookEvent } from "../../src/index.ts";
import { listen } from "../adapters/listen.ts";
import { startMysql } from "../servers/mysql.ts";
import { startPostgres } from "../servers/postgres.ts";
import { createDelivery, OTHER_SECRET, SECRET } from "../signed-delivery.ts";
import { readCodeBlocks } from "./code-blocks.ts";

const packageFolder = path.resolve(import.meta.dirname, "../..");
const blocks = readCodeBlocks("README.md");
let folder: string;

// The folder is inside the package, so that the examples import the built `receiver-kit` by its name.
beforeAll(() => {
  execFileSync(process.execPath, ["scripts/build.ts"], { cwd: packageFolder });
  mkdirSync(path.join(packageFolder, ".cache"), { recursive: true });
  folder = mkdtempSync(path.join(packageFolder, ".cache/readme-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes an example as JavaScript, and returns the file's path. The code differs only in its port. */
function writeExample(name: string, port = 3000): string {
  const code = blocks.get(name)?.replace("3000", String(port)) ?? expect.unreachable(name);
  const { code: script } = transformSync(code, {
    loader: "ts",
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  });
  const file = path.join(folder, name.replace(/\.ts$/, ".js"));
  writeFileSync(file, script);
  return file;
}

describe("README", () => {
  it("names every reason", () => {
    const text = readFileSync(path.join(packageFolder, "README.md"), "utf8");
    const named = Array.from(
      text.matchAll(/^\| `([a-z]+_[a-z_]+)` +\| /gm),
      ([, reason]) => reason,
    );
    expect(named).toEqual(VERIFICATION_REASONS);
  });

  it.each(["express.js", "express-json.js", "fastify.js", "hono.js", "nestjs.ts", "node-http.js"])(
    "has a right receiver in %s",
    async (name) => {
      writeExample("store.js");
      const port = await findFreePort();
      const receiver = spawn(process.execPath, [writeExample(name, port)], {
        cwd: folder,
        env: { ...process.env, WEBHOOK_SECRET: SECRET },
        stdio: "ignore",
      });
      try {
        await untilListening(receiver, port);
        const lines: string[] = [];
        const args = ["send", `http://localhost:${port}/webhooks`];
        const env = { WEBHOOK_SECRET: SECRET };
        const code = await runCommand(args, env, (line) => lines.push(line));
        expect(lines.join("\n")).toContain("The receiver passed all checks.");
        expect(code).toBe(0);
      } finally {
        receiver.kill();
        await once(receiver, "exit");
      }
    },
  );

  it("has a command line that ends without an error when its reader ends, as in `send | head`", async () => {
    const receiver = await listen((_request, response) => response.end());
    const program = path.join(packageFolder, "dist/esm/cli/main.js");
    const env = { ...process.env, WEBHOOK_SECRET: SECRET };
    const sending = spawn(process.execPath, [program, "send", receiver.url], { env });
    sending.stdout.destroy();
    let said = "";
    sending.stderr.on("data", (chunk: Buffer) => {
      said += chunk;
    });
    expect(await once(sending, "close")).toEqual([0, null]);
    expect(said).toBe("");
    await receiver.close();
  });

  it("opens with eight lines that verify, in quick.js", async () => {
    vi.stubEnv("WEBHOOK_SECRET", SECRET);
    const { receive } = await import(writeExample("quick.js"));
    const good = await createDelivery();
    const forged = await createDelivery({}, { secret: OTHER_SECRET });
    expect(await receive(Uint8Array.from(good.body), good.headers)).toBe(204);
    expect(await receive(Uint8Array.from(forged.body), forged.headers)).toBe(400);
    vi.stubEnv("WEBHOOK_SECRET", "");
    expect(await receive(Uint8Array.from(good.body), good.headers)).toBe(500);
    vi.unstubAllEnvs();
  });

  it("has an example store in own-store.js that handles an event once, and keeps the newest time", async () => {
    const { store } = await import(writeExample("own-store.js"));
    const outcomes: unknown[] = [];
    const work = async () => {
      outcomes.push(await store.runOnce("wev_1", async () => {}));
    };
    const failing = store.runOnce("wev_1", async () =>
      Promise.reject(new Error("the work failed")),
    );
    await expect(failing).rejects.toThrow("the work failed");
    await work();
    await work();
    expect(outcomes).toEqual(["handled", "seen_before"]);
    expect(await store.deleteExpired(9)).toBe(0);
    const stale: boolean[] = [];
    for (const time of ["2026-01-02", "2026-01-01"]) {
      const note = async (context: { stale: boolean }) => void stale.push(context.stale);
      await store.runOnce(time, note, { record: "record 1", time });
    }
    expect(stale).toEqual([false, true]);
  });

  it("has right receivers in next-route.js, worker.js, bun-or-deno.js, lambda.js and verify.js", async () => {
    writeExample("store.js");
    vi.stubEnv("WEBHOOK_SECRET", SECRET);
    const { POST } = await import(writeExample("next-route.js"));
    const { default: worker } = await import(writeExample("worker.js"));
    const { default: module } = await import(writeExample("bun-or-deno.js"));
    const { handler } = await import(writeExample("lambda.js"));
    const { receive } = await import(writeExample("verify.js"));
    const env = { WEBHOOK_SECRET: SECRET };
    const receivers: ((
      body: Uint8Array<ArrayBuffer>,
      headers: Record<string, string>,
    ) => unknown)[] = [
      async (body, headers) => (await POST(createRequest(body, headers))).status,
      async (body, headers) => (await worker.fetch(createRequest(body, headers), env)).status,
      // Bun passes its server too.
      async (body, headers) => (await module.fetch(createRequest(body, headers), {})).status,
      async (body, headers) =>
        (
          await handler({
            headers,
            body: Buffer.from(body).toString("base64"),
            isBase64Encoded: true,
          })
        ).statusCode,
      receive,
    ];
    for (const deliver of receivers) {
      const good = await createDelivery();
      const forged = await createDelivery({}, { secret: OTHER_SECRET });
      expect(await deliver(Uint8Array.from(good.body), good.headers)).toBe(204);
      expect(await deliver(Uint8Array.from(good.body), good.headers)).toBe(204);
      expect(await deliver(Uint8Array.from(forged.body), forged.headers)).toBe(400);
    }
    const { body, headers } = await createDelivery();
    const logged = vi.spyOn(console, "error").mockReturnValue();
    vi.spyOn(console, "log").mockImplementationOnce(() => {
      throw new VerificationError("not_json");
    });
    expect(await receive(Uint8Array.from(body), headers)).toBe(500);
    expect(logged).toHaveBeenCalledOnce();
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  // The first run downloads servers that the machine lacks.
  it.each([
    ["pg.js", startPostgres, "DATABASE_URL"],
    ["mysql2.js", startMysql, "DATABASE_URL"],
    ["redis.js", startRedis, "REDIS_URL"],
    ["ioredis.js", startRedis, "REDIS_URL"],
    ["sqlite.js", async () => ({ url: ":memory:", stop: async () => {} }), "DATABASE_FILE"],
  ] as const)(
    "has a store that works in %s",
    async (name, start, variable) => {
      const server = await start();
      writeFileSync(path.join(folder, "use-store.js"), USE_STORE);
      writeExample(name);
      const output = execFileSync(process.execPath, ["use-store.js", `./${name}`], {
        cwd: folder,
        env: { ...process.env, [variable]: server.url },
        encoding: "utf8",
      });
      await server.stop();
      expect(output).toBe("handled seen_before\n");
    },
    600_000,
  );
});

const event = { id: "wev_1", type: "x", created_at: "", test: false, data: {} } as unknown;

/**
 * A program that uses an example's store. It runs in its own process, because the examples keep their connections open.
 */
const USE_STORE = `
import { handleOnce } from "receiver-kit";
const { store, handle } = await import(process.argv[2]);
const createReward = "CREATE TABLE IF NOT EXISTS reward (event_id VARCHAR(64))";
const work = async (event, context) => {
  if (!handle) return;
  const db = context.client ?? context.connection;
  if (context.db) context.db.exec(createReward);
  else await db.query(createReward);
  await handle(event, context);
};
const event = ${JSON.stringify(event as WebhookEvent)};
const outcomes = [await handleOnce(store, event, work), await handleOnce(store, event, work)];
console.log(outcomes.join(" "));
process.exit(0);
`;

function createRequest(body: Uint8Array<ArrayBuffer>, headers: Record<string, string>): Request {
  return new Request("http://localhost/webhooks", { method: "POST", headers, body });
}
