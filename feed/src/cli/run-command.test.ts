import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { listenLocally } from "../../../test/harness/listening.ts";
import { useFolder } from "../../../test/harness/use-started.ts";
import type { Activity } from "../contract.ts";
import { createRecord, KEY, refuse, startTestApi, type TestApi } from "../testing/test-api.ts";
import { runCommand } from "./run-command.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));
const hasPython = spawnSync("python3", ["-c", "import pty"]).status === 0;

const folder = useFolder("feed-cli");
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(() => {
  api.records.length = 0;
});

type Ran = { readonly printed: string[]; readonly notices: string[] };

/** Runs the command line until it ends, or until `stopWhen` returns true. */
async function run(
  args: readonly string[],
  env: Record<string, string> = { ACTIVITY_KEY: KEY },
  stopWhen: (ran: Ran) => unknown = () => false,
  sync: () => void = () => undefined,
  isTerminal = false,
) {
  const ran: Ran = { printed: [], notices: [] };
  const stopped = new AbortController();
  const note = async (lines: string[], line: string) => {
    lines.push(line);
    if (await stopWhen(ran)) stopped.abort();
  };
  const code = await runCommand(args, {
    ...{ env, ask: undefined, signal: stopped.signal },
    print: (line) => note(ran.printed, line),
    tell: (line) => void note(ran.notices, line),
    ...{ sync, isTerminal },
  });
  return { code, ...ran, said: [...ran.printed, ...ran.notices].join("\n") };
}
const at = () => ["--base-url", api.baseUrl];
const SINCE = ["--since", "2000-01-01T00:00:00Z"];

describe("activity-feed", () => {
  it("lists the commands, and the options of each", async () => {
    expect(await run([])).toMatchObject({ code: 0 });
    for (const name of ["hub", "follow", "export", "me"]) {
      expect((await run(["--help"])).said).toContain(`activity-feed ${name}`);
      const { code, said } = await run([name, "--help"]);
      expect(code).toBe(0);
      expect(said).toMatch(new RegExp(`^activity-feed ${name}: .*--key-file`, "s"));
    }
  });

  it.each([
    [["donate"], 'There is no command "donate": there are hub, follow, export, me.'],
    [["follow", "--nonsense"], "Unknown option '--nonsense'"],
    [["follow", "--type", "tip"], "type must be one of donation, follow"],
    [["follow", "--since", "today"], "since must be a Date or a UTC time"],
    [["export", "--csv"], "--csv --since 2026-01-01T00:00:00Z"],
    [["hub", "--port", "80a"], "--port is a number from 0 to 65535"],
    [["follow", "--checkpoint", ""], "--checkpoint has an empty value"],
    [["hub", "--token-file="], "--token-file has an empty value"],
    [["me", KEY], "Do not pass an API key as an argument"],
    [["me", `--key=${KEY}`], "Do not pass an API key as an argument"],
    [["me", "--api-key", "x"], "Do not pass an API key as an argument"],
    [["me", "--key"], "If you typed a key, revoke it in the dashboard."],
  ])(
    "%j: says what is wrong and what is accepted, with 2, and never the key",
    async (args, text) => {
      const { code, said } = await run(args);
      expect(said).toContain(text);
      expect(said).not.toContain(KEY);
      expect(code).toBe(2);
    },
  );

  it("needs a key, and reads it from a file", async () => {
    const { code, said } = await run(["me", ...at()], {});
    expect(said).toContain("set ACTIVITY_KEY, or name a file with --key-file");
    expect(code).toBe(2);
    const path = join(folder, "key");
    writeFileSync(path, `${KEY}\n`);
    api.instead.push(refuse(401, "invalid_api_key"));
    expect(await run(["me", ...at(), "--key-file", path], {})).toMatchObject({
      code: 1,
      said: expect.stringContaining("activity-feed me: It is invalid_api_key. Create a key"),
    });
    expect((await run(["me", "--key-file", join(folder, "missing")], {})).said).toContain("ENOENT");
  });

  it("escapes what another server answers", async () => {
    api.instead.push((_asked, response) => {
      response.writeHead(404).end(JSON.stringify({ error: { message: "\u001b[2J" } }));
    });
    expect((await run(["me", ...at()])).said).toContain("answered 404 (\\u001b[2J)");
  });

  it.runIf(hasPython)("asks for the key at a terminal, and does not show it", async () => {
    const type = `import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
text = b""
while b"API key: " not in text: text += os.read(terminal, 1024)
os.write(terminal, sys.stdin.buffer.read())
while True:
    try: chunk = os.read(terminal, 1024)
    except OSError: break
    if not chunk: break
    text += chunk
sys.stdout.buffer.write(text)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;
    const args = ["-c", type, process.execPath, MAIN, "me", ...at()];
    const { ACTIVITY_KEY: _, ...env } = process.env;
    const enter = async (typed: string) => {
      const python = spawn("python3", args, { env });
      const exited = once(python, "exit");
      python.stdin.end(typed);
      let shown = "";
      for await (const chunk of python.stdout) shown += chunk;
      const [code] = await exited;
      return { shown, code };
    };
    api.instead.push(() => ({
      data: {
        ...{ display_name: "Ada ★\u001b[2J", username: "ada" },
        key: { prefix: KEY.slice(0, 17), expires_at: "2999-01-01T00:00:00.000000Z" },
      },
    }));
    const { shown } = await enter(`nonsense${"\u007f".repeat(8)}${KEY}\r`);
    // A name must not change the terminal.
    expect(shown).toContain("Account   Ada ★\\u001b[2J (ada)");
    expect(shown).toContain("Ends      2999-01-01 00:00 UTC, in ");
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain("nonsense");
    expect(await enter(`${KEY}\u0003`)).toMatchObject({ code: 130 });
  });
});

it("activity-feed follow prints a line of JSON for each record, and continues after the last one", async () => {
  for (const number of [1, 2, 3]) api.store(createRecord(number));
  const checkpoint = join(folder, "follow.cursor");
  const args = ["follow", ...at(), ...SINCE, "--checkpoint", checkpoint];
  const read = () => (existsSync(checkpoint) ? readFileSync(checkpoint, "utf8") : "");
  const atSync: string[] = [];
  const isEnough = ({ printed }: Ran) => printed.length === 2;
  const first = await run(args, undefined, isEnough, () => atSync.push(read()));
  expect(first.code).toBe(0);
  // The lines must be durable before their checkpoint is saved.
  expect(atSync.length).toBeGreaterThan(0);
  expect(atSync).not.toContain(read());
  const next = createRecord(4);
  api.store({ ...next, message: "clear: \u001b[2J\u009b2J\u202e" });
  const second = await run(args, undefined, ({ printed }) => printed.length === 2);
  const lines = [...first.printed, ...second.printed];
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(
    [1, 2, 3, 4].map((number) => createRecord(number).id),
  );
  expect(lines.at(-1)).toContain("\\u001b[2J\\u009b2J\\u202e");
});

describe("activity-feed export", () => {
  const donation = (number: number, name: string, message: string): Activity => ({
    ...createRecord(number),
    ...{ id: `don_${String(number).padStart(15, "0")}`, type: "donation", platform: "service" },
    ...{ actor: { name }, message, value: 1_500, unit: "cents", currency: "eur" },
    refunded_amount_cents: 0,
  });

  it("writes CSV without formulas, and says how many records", async () => {
    api.store(donation(1, "=HYPERLINK(1)", 'She said "hi",\nand left'));
    api.store(donation(2, "+49", "@SUM(A1);=1;＝1;＋1;＠1;－1;－);\0=1"));
    api.store(createRecord(3));
    const path = join(folder, "out.csv");
    const { code, notices } = await run(["export", "--csv", ...SINCE, ...at(), "--output", path]);
    expect(code).toBe(0);
    expect(notices).toEqual([`3 records in ${path}.`]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const [one, two, three] = [1, 2, 3].map((number) => createRecord(number).recorded_at);
    expect(readFileSync(path, "utf8")).toBe(
      [
        "\uFEFFid,type,platform,occurred_at,recorded_at,name,message,value,unit,currency,refunded_amount_cents",
        `don_000000000000001,donation,service,${one},${one},'=HYPERLINK(1),"She said ""hi"",\nand left",1500,cents,eur,0`,
        `don_000000000000002,donation,service,${two},${two},'+49,'@SUM(A1);'=1;'＝1;'＋1;'＠1;'－1;－);'\0=1,1500,cents,eur,0`,
        `evt_000000000000003,follow,live_platform_1,${three},${three},N3,,0,none,,`,
        "",
      ].join("\r\n"),
    );
    const { printed } = await run(["export", "--csv", ...SINCE, ...at()]);
    expect(`\uFEFF${printed.map((line) => `${line}\n`).join("")}`).toBe(readFileSync(path, "utf8"));
  });

  it("shows its progress after each 1,000 records", async () => {
    api.pageSize = 1_000;
    for (let number = 1; number <= 1_000; number++) api.store(createRecord(number));
    const { notices } = await run(["export", "--csv", ...SINCE, ...at()]);
    const last = createRecord(1_000).recorded_at;
    expect(notices).toEqual([`1000 records, up to ${last}`, "1000 records."]);
    api.pageSize = 100;
  });

  it("does not let a supporter's text change the terminal, and keeps it exact in a pipe", async () => {
    const name = "Ada\u001b]0;x\u0007\r\u009b2K\u2069\u202e";
    api.store(donation(1, name, "two\nlines"));
    const args = ["export", "--csv", ...SINCE, ...at()];
    const piped = await run(args);
    expect(piped.printed.at(-1)).toContain(`"${name}","two\nlines",1500,cents,eur,0\r`);
    const { printed } = await run(args, undefined, undefined, undefined, true);
    expect(`${printed.at(-1)}$`).toContain(
      '"Ada\\u001b]0;x\\u0007\\u000d\\u009b2K\\u2069\\u202e","two\nlines",1500,cents,eur,0$',
    );
  });

  it("exits with 130 when interrupted, so that no script continues with half of the records", async () => {
    api.pageSize = 1;
    for (const number of [1, 2, 3]) api.store(createRecord(number));
    const isBegun = ({ printed }: Ran) => printed.length === 2;
    expect(await run(["export", "--csv", ...SINCE, ...at()], undefined, isBegun)).toMatchObject({
      code: 130,
      printed: { length: 2 },
    });
    api.pageSize = 100;
  });

  it("fails if the disk is full, and leaves no cut line", async () => {
    api.store(donation(1, "Ada", "x".repeat(2_000)));
    const command = ["-c", 'ulimit -f 1; exec "$@" > "$0"', join(folder, "full"), process.execPath];
    const args = [...command, MAIN, "export", "--csv", ...SINCE, ...at()];
    const shell = spawn("bash", args, { env: { ...process.env, ACTIVITY_KEY: KEY } });
    const exited = once(shell, "exit");
    let said = "";
    for await (const chunk of shell.stderr) said += chunk;
    expect(said).toContain("activity-feed export: EFBIG");
    expect(await exited).toEqual([1, null]);
    expect(readFileSync(join(folder, "full"), "utf8")).toMatch(/refunded_amount_cents\r\n$/);
  });

  it("leaves no incomplete file under the output's name", async () => {
    api.instead.push(refuse(403, "account_unavailable"));
    const output = ["--output", join(folder, "cut")];
    const { code } = await run(["export", "--csv", ...SINCE, ...at(), ...output]);
    expect(code).toBe(1);
    expect(readdirSync(folder)).not.toContain("cut");
  });
});

describe("activity-feed hub", () => {
  const isUp = ({ printed }: Ran) => printed.length === 3;
  const hub = (...more: string[]) => run(["hub", "--port", "0", ...at(), ...more], undefined, isUp);

  it("prints its addresses, and keeps its token in a file that only its owner can read", async () => {
    const path = join(folder, "token");
    const tokens: string[] = [];
    for (const args of [["--token-file", path], ["--token-file", path], []]) {
      const { code, printed, said } = await hub(...args);
      expect(code).toBe(0);
      expect(said).not.toContain(KEY);
      const [overlay = "", events, socket] = printed.map((line) => line.slice(10));
      const { port, searchParams } = new URL(overlay);
      tokens.push(searchParams.get("token") ?? "");
      expect(events).toBe(`http://127.0.0.1:${port}/events?token=${tokens.at(-1)}`);
      expect(socket).toBe(`ws://127.0.0.1:${port}/socket?token=${tokens.at(-1)}`);
    }
    expect(tokens[0]).toMatch(/^[\w-]{43}$/);
    expect(tokens[1]).toBe(tokens[0]);
    expect(tokens[2]).not.toBe(tokens[0]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, "short");
    expect((await hub("--token-file", path)).said).toContain("holds no token");
  });

  it("says that its port is taken", async () => {
    const other = createServer();
    const port = await listenLocally(other);
    const { code, said } = await run(["hub", "--port", `${port}`, ...at()]);
    other.close();
    expect(said).toContain(`Port ${port} is used or reserved`);
    expect(code).toBe(2);
  });

  it("ends with an error when the key is refused", async () => {
    api.instead.push(...[1, 2, 3].map(() => refuse(401, "invalid_api_key")));
    const { code, said } = await run(["hub", "--port", "0", ...at()]);
    api.instead.length = 0;
    expect(said).toContain("activity-feed hub: It is invalid_api_key. Create a key");
    expect(code).toBe(1);
  });
});
