import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkDataMarker, openDataFolder, writeMarker } from "./data-folder.ts";
import { StackError } from "./stack-error.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "data-folder-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe("openDataFolder", () => {
  it("creates a folder and returns what was written into it", async () => {
    const inner = join(folder, "new/one");
    expect(await openDataFolder(inner)).toBeUndefined();
    await writeMarker(inner, { state: "creating", flavour: "mysql", version: "9.7.4" });
    expect(await openDataFolder(inner)).toMatchObject({ flavour: "mysql", version: "9.7.4" });
  });

  it("refuses a folder with another's files", async () => {
    await writeFile(join(folder, "ibdata1"), "");
    await expect(openDataFolder(folder)).rejects.toThrow(/holds files that were not put there/);
  });

  it("refuses a marker it cannot understand", async () => {
    await writeFile(join(folder, "personal-activity.json"), '{"format":2}');
    await expect(openDataFolder(folder)).rejects.toThrow(/newer version of this program/);
  });

  it("refuses a path that leads through a file", async () => {
    await writeFile(join(folder, "file"), "");
    await expect(openDataFolder(join(folder, "file/inner"))).rejects.toThrow(StackError);
  });
});

describe("checkDataMarker", () => {
  const marker = {
    product: "personal-activity-database",
    format: 1,
    state: "ready",
    flavour: "mariadb",
    version: "10.11.19",
  } as const;

  it.each(["10.11.2", "11.4.1"])("lets MariaDB %s go on with data of 10.11.19", (version) => {
    expect(() => checkDataMarker("d", marker, { flavour: "mariadb", version })).not.toThrow();
  });

  it("refuses an older server and another flavour", () => {
    const older = { flavour: "mariadb", version: "10.6.30" } as const;
    const other = { flavour: "mysql", version: "9.7.4" } as const;
    expect(() => checkDataMarker("d", marker, older)).toThrow(/written by MariaDB 10\.11\.19/);
    expect(() => checkDataMarker("d", marker, other)).toThrow(/the server here is MySQL 9\.7\.4/);
  });
});
