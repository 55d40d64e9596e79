import { exec } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { certify } from "../../../test/harness/certify.ts";
import { listenLocally } from "../../../test/harness/listening.ts";
import { useFolder } from "../../../test/harness/use-started.ts";
import { createNodeReceiver } from "../../src/adapters/node-http/index.ts";
import { runCommand } from "../../src/cli/run-command.ts";
import { createSampleEvents } from "../../src/cli/sample-events.ts";
import { createMemoryStore } from "../../src/stores/memory/index.ts";
import { listen } from "../adapters/listen.ts";
import { createDelivery, createRawDelivery, OTHER_SECRET, SECRET } from "../signed-delivery.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const env = { WEBHOOK_SECRET: SECRET };
const folder = useFolder("receiver-kit-cli");

/** Runs the command line. Returns its output and exit code. */
async function run(args: readonly string[], variables: Record<string, string> = env) {
  const lines: string[] = [];
  const code = await runCommand(args, variables, (line) => lines.push(line));
  return { code, text: lines.join("\n") };
}

describe("receiver-kit send", () => {
  it("accepts a right receiver, and sends it only tests", async () => {
    const handle = vi.fn();
    const store = createMemoryStore();
    const receiver = await listen(
      createNodeReceiver({ secrets: SECRET, store, handle, onProblem: () => {} }),
    );
    const { code, text } = await run(["send", receiver.url]);
    await receiver.close();
    expect(text).toContain("The receiver passed all checks.");
    expect(text.split("\n")).toHaveLength(13);
    expect(code).toBe(0);
    expect(handle).toHaveBeenCalledTimes(4);
    for (const [webhookEvent] of handle.mock.calls) expect(webhookEvent.test).toBe(true);
  });

  it("sends times with microseconds, as the service does", () => {
    const bodies = createSampleEvents()
      .map(({ body }) => body)
      .join();
    const times = [...bodies.matchAll(/"\w+_at":"([^"]*)"/g)].map(([, time]) => time);
    expect(times).toHaveLength(6);
    for (const time of times) expect(time).toMatch(/\.\d{6}Z$/);
  });

  it("reports a receiver that accepts everything, and one that is not running", async () => {
    const gullible = await listen((_request, response) => response.end());
    const everything = await run(["send", gullible.url]);
    await gullible.close();
    expect(everything.code).toBe(1);
    expect(everything.text).toContain("forged signature");
    expect(everything.text).toContain("The receiver failed 7 of 12 checks.");
    // This uses a new address, because fetch may keep a connection to the receiver above.
    const ended = await listen((_request, response) => response.end());
    await ended.close();
    const nothing = await run(["send", ended.url]);
    expect(nothing).toMatchObject({ code: 1, text: expect.stringContaining("ECONNREFUSED") });
    expect(nothing.text).toContain("Check the URL, and that the receiver runs and answers within");
    expect(nothing.text.split("\n")).toHaveLength(2);
    // Fetch refuses some ports, such as that of X11.
    const blocked = await run(["send", "http://127.0.0.1:6000/"]);
    expect(blocked).toMatchObject({ code: 1, text: expect.stringContaining("bad port") });
  });

  it("tells once how to trust a receiver's own certificate", async () => {
    certify(folder, "own", "IP:127.0.0.1");
    const [key, cert] = ["own.key", "own.pem"].map((name) => readFileSync(path.join(folder, name)));
    const receiver = createSecureServer({ key, cert }, (_request, response) => response.end());
    const port = await listenLocally(receiver);
    const { code, text } = await run(["send", `https://127.0.0.1:${port}/`]);
    receiver.close();
    expect(code).toBe(1);
    expect(text).toContain("DEPTH_ZERO_SELF_SIGNED_CERT");
    expect(text).toContain("set NODE_EXTRA_CA_CERTS");
    expect(text.split("\n")).toHaveLength(2);
  });

  it("claims no attack of a delivery that got no answer", async () => {
    const breaking = await listen((request, response) => {
      if (request.headers["service-signature"] === `v1=${"0".repeat(64)}`) request.socket.destroy();
      else response.end();
    });
    const { text } = await run(["send", breaking.url]);
    await breaking.close();
    expect(text).toMatch(/forged signature .*, expected 4xx$/m);
    expect(text).toContain("no signature");
  });

  it("signs and sends one event from a file, and shows the answer", async () => {
    const handle = vi.fn();
    const store = createMemoryStore();
    const receiver = await listen(createNodeReceiver({ secrets: SECRET, store, handle }));
    const file = path.join(folder, "event.json");
    const { body } = await createDelivery({ id: "wev_again" });
    writeFileSync(file, body);
    const sent = await run(["send", receiver.url, "--body", file]);
    expect(sent).toMatchObject({ code: 0, text: expect.stringContaining('✓ "wev_again" 204') });
    expect(handle).toHaveBeenCalledTimes(1);
    await receiver.close();
    expect((await run(["send", receiver.url, "--body", file])).code).toBe(1);
    writeFileSync(file, "{}");
    expect((await run(["send", receiver.url, "--body", file])).text).toContain("--body takes");
  });

  it("waits for a body that another program writes late", async () => {
    const receiver = await listen((_request, response) => response.writeHead(204).end());
    const { body } = await createDelivery({ id: "wev_late" });
    writeFileSync(path.join(folder, "late.json"), body);
    const send = `${process.execPath} ${MAIN} send ${receiver.url} --body -`;
    const { stdout } = await promisify(exec)(`(sleep 1; cat late.json) | ${send}`, {
      ...{ cwd: folder, env: { ...process.env, ...env } },
    });
    await receiver.close();
    expect(stdout).toContain('✓ "wev_late" 204');
  });

  it("names missing and wrong arguments", async () => {
    expect(await run(["send", "http://127.0.0.1:1/"], {})).toMatchObject({
      code: 2,
      text: expect.stringContaining("WEBHOOK_SECRET"),
    });
    for (const url of ["nowhere", "localhost:3000/webhooks"]) {
      expect(await run(["send", url])).toMatchObject({
        code: 2,
        text: expect.stringContaining("send takes one URL"),
      });
    }
    expect((await run(["send", "http://127.0.0.1/", "--secret", "weak"])).code).toBe(2);
  });
});

describe("receiver-kit listen", () => {
  it("prints each verified event and each refusal until it is interrupted", async () => {
    const lines: string[] = [];
    const listening = runCommand(["listen", "--port", "0"], env, (line) => lines.push(line));
    await vi.waitFor(() => expect(lines).toHaveLength(1), 15_000);
    const url = /http:\S+/.exec(lines[0] ?? "")?.[0] ?? "";
    const clearScreen = "\u001b[2J";
    const reverse = "\u202e";
    const { body, headers } = await createDelivery({
      data: { id: "1", message: `${clearScreen}\u009b2J${reverse}` },
      test: true,
    });
    expect((await fetch(url, { method: "POST", headers, body: new Uint8Array(body) })).status).toBe(
      204,
    );
    expect((await fetch(url, { method: "POST", headers, body: "{}" })).status).toBe(400);
    process.emit("SIGINT");
    expect(await listening).toBe(0);
    expect(lines[1]).toContain("✓ donation.created");
    expect(lines[1]).toContain("(test)");
    expect(lines[1]).not.toContain(clearScreen);
    expect(lines[1]).not.toContain(reverse);
    expect(lines[1]).toContain("\\u202e");
    expect(lines[2]).toContain("✗ answered 400: signature_mismatch");
  });

  it("generates a secret if none is given, and refuses an invalid or used port", async () => {
    const lines: string[] = [];
    const listening = runCommand(["listen", "--port", "0"], {}, (line) => lines.push(line));
    await vi.waitFor(() => expect(lines).toHaveLength(2), 15_000);
    process.emit("SIGINT");
    await listening;
    expect(lines[1]).toMatch(/WEBHOOK_SECRET='whsec_[A-Za-z0-9+/]{43}='/);
    expect((await run(["listen", "--port", "80a"])).text).toContain("--port is a number");
    const taken = createServer();
    const port = await listenLocally(taken);
    expect(await run(["listen", "--port", `${port}`])).toMatchObject({
      code: 2,
      text: expect.stringContaining("EADDRINUSE"),
    });
    taken.close();
  });
});

describe("receiver-kit verify", () => {
  /** Writes a delivery to files and verifies them. */
  async function verifyFiles(headersText: string, body: Buffer | string, ...more: string[]) {
    const [headersFile, bodyFile] = ["headers", "body"].map((name) => path.join(folder, name));
    writeFileSync(headersFile ?? "", headersText);
    writeFileSync(bodyFile ?? "", body);
    return run(["verify", "--headers", headersFile ?? "", "--body", bodyFile ?? "", ...more]);
  }
  const toLines = (headers: Record<string, string>) =>
    Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join("\r\n");

  it("reads headers as lines, as curl prints them, and as JSON", async () => {
    const { body, headers, eventId } = await createDelivery();
    const lines = toLines(headers);
    for (const text of [
      lines,
      lines
        .split("\r\n")
        .map((line) => `> ${line}`)
        .join("\r\n"),
      JSON.stringify(headers),
    ]) {
      const { code, text: printed } = await verifyFiles(text, body);
      expect(printed).toBe(`✓ verified: "donation.created", id "${eventId}"`);
      expect(code).toBe(0);
    }
  });

  it("prints no character that can change the terminal or reverse text", async () => {
    const { body, headers } = await createDelivery({ type: "x\u009b2J\u2066" });
    const { text } = await verifyFiles(toLines(headers), body);
    expect(text).toContain('✓ verified: "x\\u009b2J\\u2066"');
  });

  it("shows which check fails, and a hint if it has one", async () => {
    const { body, headers } = await createDelivery();
    const lines = toLines(headers);
    const spaced = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 2));
    const cases = [
      [lines, Buffer.from(`${body}\n`), [], "the file has a line end"],
      [lines, spaced, [], "the body was parsed and printed again"],
      [lines, body, ["--secret", OTHER_SECRET], "compare the secret"],
      [lines, body, ["--at", "1767225600"], "--at"],
      [lines.replace(/^Service-Signature.*/m, ""), body, [], "missing_header"],
      [`${lines}\n${lines}`, body, [], "repeated_header"],
    ] as const;
    for (const [text, bytes, more, expected] of cases) {
      const { code, text: printed } = await verifyFiles(text, bytes, ...more);
      expect(printed).toContain(expected);
      expect(code).toBe(1);
    }
    const bare = await createRawDelivery(body, { secret: `whsec_${SECRET.slice(6)}` });
    const { createHmac } = await import("node:crypto");
    const timestamp = bare.headers["Service-Timestamp"];
    const mac = createHmac("sha256", SECRET.slice(6)).update(`${timestamp}.wev_raw.`).update(body);
    const cut = { ...bare.headers, "Service-Signature": `v1=${mac.digest("hex")}` };
    expect((await verifyFiles(toLines(cut), body)).text).toContain("without whsec_");
  });

  it("names missing and wrong arguments", async () => {
    expect((await run(["verify"])).text).toContain("verify takes --headers and --body");
    expect((await run(["verify", "--headers", "/nowhere", "--body", "/nowhere"])).text).toContain(
      "ENOENT",
    );
    expect((await verifyFiles("{broken", "x")).text).toContain("neither");
    expect((await run(["verify", "--nonsense"])).code).toBe(2);
    expect((await run(["nonsense"])).text).toContain("there is no command nonsense");
    for (const args of [[], ["--help"], ["send", "--help"], ["listen", "-h"]]) {
      const { code, text } = await run(args);
      expect([code, text]).toEqual([0, expect.stringContaining("receiver-kit listen")]);
    }
  });
});
