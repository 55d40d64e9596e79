import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT } from "../architecture/import-rule.ts";

const BULK = "/-/npm/v1/security/advisories/bulk";
const ADVISORY = {
  id: 1,
  url: "https://example.com/advisories/1",
  title: "reads what it should not",
  severity: "high",
  vulnerable_versions: "<999",
  cwe: [],
  cvss: { score: 8, vectorString: null },
};

/** Runs `npm run audit` against a registry that answers the question for vulnerabilities so. */
async function audit(status: number, answer: unknown) {
  const asked: string[] = [];
  const registry = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const isQuestion = request.url === BULK;
    response.writeHead(isQuestion ? status : 404, { "Content-Type": "application/json" });
    response.end(JSON.stringify(isQuestion ? answer : {}));
  });
  registry.listen(0, "127.0.0.1");
  await once(registry, "listening");
  const { port } = registry.address() as AddressInfo; // It listens on TCP.
  const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/` };
  const run = promisify(execFile)(process.execPath, [join(ROOT, "tools/release/audit.ts")], {
    env,
  });
  type Ended = { readonly stdout: string; readonly stderr: string; readonly code?: number };
  const { code = 0, ...said } = await run.catch((failed: Ended) => failed).then<Ended>((e) => e);
  registry.close();
  return { code, ...said, asked };
}

it("passes where the registry knows of nothing", async () => {
  const { code, stdout, asked } = await audit(200, {});
  expect(asked).toEqual([`POST ${BULK}`]);
  expect(stdout).toBe("0 unexplained vulnerabilities\n");
  expect(code).toBe(0);
});

it("names what the registry knows of a package in use, and fails", async () => {
  const { code, stderr } = await audit(200, { mysql2: [ADVISORY] });
  expect(stderr).toBe("mysql2: high, reads what it should not, https://example.com/advisories/1\n");
  expect(code).toBe(1);
});

it("says that nobody was asked where the registry does not answer, and finds nothing", async () => {
  const { code, stdout, stderr } = await audit(405, {});
  expect(stdout).toMatch(/^Nobody was asked: 405 /);
  expect(stderr).toBe("");
  expect(code).toBe(0);
});
