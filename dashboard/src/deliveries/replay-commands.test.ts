import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { curlScript, kitCommand } from "./replay-commands.ts";

const WEBHOOK_SECRET = `whsec_${"x".repeat(43)}=`;
const url = "https://example.com/hook?it='s&filter[type]={a,b}";
const eventId = "wev_k3x9m2p7q4r8s1t";
/** JSON does not escape these control characters. */
const controls = "\x7f'\x80!\x9f\x7f7";
const message = `it's $HOME \`date\` \\n %s \u202e 🎉 ${controls}`;
const body = JSON.stringify({ id: eventId, message });

/** Runs a script in a shell where a function with the body `instead` replaces `program`. */
const run = (program: string, instead: string, script: string) =>
  execFileSync("sh", ["-c", `${program}() { ${instead}; }\n${script}`], {
    env: { ...process.env, WEBHOOK_SECRET },
    encoding: "utf8",
  });

it("copies a script that sends the exact bytes to the exact URL with a signature of now. §6.2, §6.3", () => {
  // Prints the arguments of curl and its input.
  const sent = "printf '%s\\0' \"$@\"; cat";
  const words = run("curl", sent, curlScript({ url, eventId, body })).split("\0");
  // Without -g, curl expands the URL's brackets and braces.
  const expected = ["-g", url, "--data-binary", "@-", `Service-Event-Id: ${eventId}`];
  expect(words).toEqual(expect.arrayContaining(expected));
  expect(words.at(-1)).toBe(body);
  const at = words.find((word) => word.startsWith("Service-Timestamp: "))?.slice(19) ?? "";
  expect(Math.abs(Number(at) - Date.now() / 1000)).toBeLessThan(60);
  const mac = createHmac("sha256", WEBHOOK_SECRET).update(`${at}.${eventId}.${body}`).digest("hex");
  expect(words).toContain(`Service-Signature: v1=${mac}`);
});

it("copies a script whose programs get neither the secret nor the event as an argument", () => {
  const directory = mkdtempSync(join(tmpdir(), "replay-"));
  const words = join(directory, "words");
  // The shell's own `printf` starts no program.
  for (const program of ["curl", "date", "openssl", "perl", "sed"]) {
    const script = `#!/bin/sh\nprintf '%s\\n' ${program} "$@" >> ${words}\n`;
    writeFileSync(join(directory, program), script, { mode: 0o755 });
  }
  execFileSync("sh", ["-c", curlScript({ url, eventId, body })], {
    env: { PATH: `${directory}:${process.env.PATH}`, WEBHOOK_SECRET },
  });
  const seen = readFileSync(words, "utf8");
  rmSync(directory, { recursive: true });
  expect(seen).toMatch(/^curl$/m);
  expect(seen).toMatch(/^perl$/m);
  expect(seen).not.toContain(WEBHOOK_SECRET);
  expect(seen).not.toContain(body.slice(0, 50));
});

it("copies no character that a terminal takes as a key or a command", () => {
  const replay = { url, eventId, body: JSON.stringify(`${"\x7f".repeat(400)}date #`) };
  expect(`${curlScript(replay)}\n${kitCommand(replay)}`).not.toMatch(/(?!\n)\p{Cc}/u);
});

it("copies a command of receiver-kit that reads the exact bytes", () => {
  const printed = run("npx", "cat; printf '\\0%s' \"$@\"", kitCommand({ url, eventId, body }));
  expect(printed.split("\0")).toEqual([body, "receiver-kit", "send", url, "--body", "-"]);
});
