import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useFolder } from "../harness/use-started.ts";
import { ROOT } from "./import-rule.ts";

const BUF = createRequire(import.meta.url).resolve("@bufbuild/buf/bin/buf");

const folder = useFolder("protos");

function edit(path: string, from: string, to: string): void {
  const file = join(folder, "proto/activity", path);
  writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
}

it("CI refuses a proto without a call, a service or a package that a client may use", () => {
  for (const name of ["buf.yaml", "proto"]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  edit("ingest/v1/donation_service.proto", "rpc PayDonation(", "rpc SettleDonation(");
  edit("read/v1/me_service.proto", "service MeService", "service ProfileService");
  rmSync(join(folder, "proto/activity/dispatch"), { recursive: true });
  // CI compares a version with the previous one in the same way.
  const args = [BUF, "breaking", folder, "--against", ROOT];
  const { stdout: refused } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(refused).toContain('RPC "PayDonation" on service "DonationService"');
  expect(refused).toContain('service "MeService" was deleted');
  expect(refused).toContain('package "activity.dispatch.v1" was deleted');
});
