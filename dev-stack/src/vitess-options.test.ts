import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readKeyspaces, shardNames, vitessOptions } from "./vitess-options.ts";

describe("shards are named by the range of their keyspace ids", () => {
  it.each([
    [1, ["-"]],
    [2, ["-80", "80-"]],
    [4, ["-40", "40-80", "80-c0", "c0-"]],
    [32, ["-08", "08-10"]],
  ])("%i", (count, first) => {
    const names = shardNames(count);
    expect(names).toHaveLength(count);
    expect(names.slice(0, first.length)).toEqual(first);
  });

  it.each([0, 3, 512, 1.5, Number.NaN])("%d is no number of shards", (count) => {
    expect(() => shardNames(count)).toThrow(`${count} is no number of shards`);
  });
});

describe("keyspaces are read from the folders of their VSchemas", () => {
  let schemas: string;
  beforeAll(async () => {
    schemas = await mkdtemp(join(tmpdir(), "activity-vschemas-"));
    for (const [name, sharded] of [["wide", true] as const, ["narrow", false] as const]) {
      await mkdir(join(schemas, name));
      await writeFile(join(schemas, name, "vschema.json"), JSON.stringify({ sharded }));
    }
  });
  afterAll(() => rm(schemas, { recursive: true, force: true }));

  it("with the shards of those that have some, each a database of its own", async () => {
    expect(await readKeyspaces(schemas, "p", 2)).toEqual([
      { name: "narrow", shards: [{ name: "0", database: "p_narrow_0" }] },
      {
        name: "wide",
        shards: [
          { name: "-80", database: "p_wide_0" },
          { name: "80-", database: "p_wide_1" },
        ],
      },
    ]);
  });

  it("and served with a primary for each shard, as the user of the MySQL's URL", async () => {
    const keyspaces = await readKeyspaces(schemas, "p", 1);
    const mysqlUrl = "mysql://u%40x:p%3A@10.0.0.1:3307/any";
    const places = { keyspaces, schemas, mysqlUrl, port: 15_306, startSeconds: 9 };
    const options = vitessOptions(places).join(" ");
    expect(options).toContain(
      'keyspaces { name: "wide" shards { name: "-" db_name_override: "p_wide_0" } replica_count: 1 rdonly_count: -1 }',
    );
    for (const part of [
      "--db-host 10.0.0.1 --db-port 3307",
      "--db-app-user u@x --db-app-password p:",
      "--mysql-server-port 15306 --mysql-server-bind-address 127.0.0.1",
      "--gateway-initial-tablet-timeout 9s",
    ]) {
      expect(options).toContain(part);
    }
  });
});
