import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT } from "./import-rule.ts";

const BUF = createRequire(import.meta.url).resolve("@bufbuild/buf/bin/buf");

/** Compares the protos with a changed copy, as CI compares a version with the one before. Returns what buf refuses. */
async function breakingChanges(change: (folder: string) => void): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "protos-"));
  try {
    for (const name of ["buf.yaml", "proto"]) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    }
    change(folder);
    const args = [BUF, "breaking", folder, "--against", ROOT];
    const run = promisify(execFile)(process.execPath, args);
    return (await run.catch((failed: Awaited<typeof run>) => failed)).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it("CI refuses a proto without a call, a service or a package that a client may use", async () => {
  const refused = await breakingChanges((folder) => {
    const edit = (path: string, from: string, to: string) => {
      const file = join(folder, "proto/activity", path);
      writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
    };
    edit("ingest/v1/donation_service.proto", "rpc PayDonation(", "rpc SettleDonation(");
    edit("read/v1/me_service.proto", "service MeService", "service ProfileService");
    rmSync(join(folder, "proto/activity/dispatch"), { recursive: true });
  });
  expect(refused).toContain('RPC "PayDonation" on service "DonationService"');
  expect(refused).toContain('service "MeService" was deleted');
  expect(refused).toContain('package "activity.dispatch.v1" was deleted');
});
