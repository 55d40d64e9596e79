import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startDatabase } from "../../../dev-stack/src/database.ts";
import { createProgress } from "../../../dev-stack/src/progress.ts";
import { useTestDatabase } from "../../../test/harness/database.ts";
import { useFolder, useStarted } from "../../../test/harness/use-started.ts";
import { createPackets, type Packets } from "./packet.ts";
import { createPool, type Pool, type RowDataPacket } from "./pool.ts";
import { queryWithin } from "./query-within.ts";
import { isReadOnly } from "./switch-over.ts";
import { inTransaction } from "./transaction.ts";

const WRITE = "UPDATE installation SET only_one = TRUE";
const PASSWORD = "of-a-user-who-may-not-write-then";

const folder = useFolder("switch-over");
/** A separate server, because read_only applies to all databases of a server. */
const server = useStarted(() =>
  startDatabase({
    // Ignores DATABASE_URL, because the server that it names must not become read-only.
    env: { ...process.env, DATABASE_URL: undefined },
    ...{ dataDir: join(folder, "database"), progress: createProgress(), ephemeral: true },
  }),
);
const database = useTestDatabase({}, () => server.url);
let pool: Pool;
let reading: Pool;
let packets: Packets;
beforeAll(async () => {
  const url = new URL(database.url);
  await database.query(`CREATE USER writer@'127.0.0.1' IDENTIFIED BY '${PASSWORD}'`);
  await database.query(`GRANT ALL ON ${url.pathname.slice(1)}.* TO writer@'127.0.0.1'`);
  url.username = "writer";
  url.password = PASSWORD;
  pool = createPool(url.href, 1);
  reading = createPool(url.href, 2);
  packets = createPackets(url.href, 1, 10_000);
});
afterAll(() => Promise.all([pool.end(), reading.end(), packets.close()]));
beforeEach(async () => {
  await database.query("SET GLOBAL read_only = 0");
});

const CONNECTION_ID = "SELECT CONNECTION_ID() AS id";
const idOfPool = () => queryWithin(pool, CONNECTION_ID, []);
/** Returns the ids of both connections: a statement and a transaction run at once, each on its own connection. */
const idsOfReading = async () => {
  const answers = await Promise.all([
    queryWithin<RowDataPacket[]>(reading, CONNECTION_ID, []),
    inTransaction(reading, async (tx) => (await tx.query<RowDataPacket[]>(CONNECTION_ID))[0]),
  ]);
  return answers.map(([row]) => Number(row?.id)).sort((a, b) => a - b);
};
const idOfPackets = async () => (await packets.run([{ sql: CONNECTION_ID, values: [] }]))[0];
const writers = [
  ["a transaction", () => inTransaction(pool, (tx) => tx.query(WRITE)), idOfPool],
  ["a statement", () => queryWithin(pool, WRITE, []), idOfPool],
  ["a packet", () => packets.run([{ sql: WRITE, values: [] }]), idOfPackets],
] as const;

describe.each(writers)("after a switch-over, %s", (_, write, connectionId) => {
  it("closes the connection to a read-only server, and writes over a new one", async () => {
    await write();
    const before = await connectionId();
    expect(await connectionId()).toEqual(before);
    await database.query("SET GLOBAL read_only = 1");
    const failure = await write().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(isReadOnly(failure)).toBe(true);
    expect(await connectionId()).not.toEqual(before);
    await database.query("SET GLOBAL read_only = 0");
    await write();
  });

  it("leads no read to the old server, also over connections opened until it writes again. ADR 0032", async () => {
    await write();
    const before = await idsOfReading();
    expect(await idsOfReading()).toEqual(before);
    await database.query("SET GLOBAL read_only = 1");
    await expect(write()).rejects.toSatisfy(isReadOnly);
    // Opens connections while the address may still lead to the old server.
    const meanwhile = await idsOfReading();
    await database.query("SET GLOBAL read_only = 0");
    await write();
    const after = await idsOfReading();
    expect(new Set([...before, ...meanwhile, ...after]).size).toBe(6);
    expect(await idsOfReading()).toEqual(after);
  });
});
