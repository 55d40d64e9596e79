import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createPaidDonation, createReader } from "../harness/builders.ts";
import { METHODS } from "../harness/methods.ts";
import { useTestStack } from "../harness/stack.ts";

const BUF = createRequire(import.meta.url).resolve("@bufbuild/buf/bin/buf");
const ACTIVITY_SERVICE = "activity.read.v1.ActivityService";

/** The rest of the account's limit, as `--verbose` shows a header. */
const LIMIT = /^buf: < .*Ratelimit: "account";r=\d+;t=\d+$/m;

const stack = useTestStack();

/** Runs `buf curl` outside the checkout. There it knows only the protos that the server sends. Returns both streams. */
function bufCurl(path: string, ...args: string[]) {
  const url = `http://127.0.0.1:${stack.corePort}/${path}`;
  const all = [BUF, "curl", "--http2-prior-knowledge", ...args, url];
  type Ended = { readonly stdout: string; readonly stderr: string };
  const run: Promise<Ended> = promisify(execFile)(process.execPath, all, { cwd: "/" });
  return run.catch((failed: Ended) => failed);
}

describe("buf curl, which knows only the address,", () => {
  it.each(["grpc", "grpcweb", "connect"])(
    "reads the feed by reflection over %s, and gets our error code as a typed detail of the standard status",
    async (protocol) => {
      const { accountId, apiKey } = await createReader(stack);
      const { recordId } = await createPaidDonation(stack, accountId, { amountCents: 321n });
      const shown = ["--protocol", protocol, "--header", `Authorization: Bearer ${apiKey}`];
      const list = (request: object) => {
        const path = `${ACTIVITY_SERVICE}/ListActivities`;
        return bufCurl(path, ...shown, "--verbose", "--data", JSON.stringify(request));
      };
      const page = await list({});
      expect(JSON.parse(page.stdout).activities).toMatchObject([
        { id: `don_${recordId}`, value: "321", unit: "UNIT_CENTS" },
      ]);
      expect(page.stderr).toMatch(LIMIT);
      const refused = await list({ cursor: "x" });
      const { code, details } = JSON.parse(/^\{$.*^\}$/ms.exec(refused.stderr)?.[0] ?? "");
      expect(code).toBe("invalid_argument");
      expect(details).toMatchObject([{ type: "activity.read.v1.ErrorInfo" }]);
      expect(Buffer.from(details[0].value, "base64").toString()).toContain("invalid_cursor");
      // In gRPC-Web a failure's headers are in its body, which buf does not show.
      if (protocol !== "grpcweb") expect(refused.stderr).toMatch(LIMIT);
    },
  );

  it("checks health without a credential", async () => {
    const check = async (service: string) => {
      const data = ["--protocol", "grpc", "--data", JSON.stringify({ service })];
      const { stdout, stderr } = await bufCurl("grpc.health.v1.Health/Check", ...data);
      return JSON.parse(stdout || stderr);
    };
    for (const service of ["", ACTIVITY_SERVICE]) {
      // Polls, because a busy database may take longer than a second, the limit of a health check.
      await expect.poll(() => check(service)).toEqual({ status: "SERVING" });
    }
    expect(await check("no.such.Service")).toMatchObject({ code: "not_found" });
  });

  it("lists every call", async () => {
    const { stdout } = await bufCurl("", "--list-methods");
    for (const { parent, name } of METHODS) expect(stdout).toContain(`${parent.typeName}/${name}`);
  });
});
