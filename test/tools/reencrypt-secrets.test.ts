import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { newId } from "../../server/src/common/ids.ts";
import { createSecretKey, encryptSecret } from "../../server/src/signing-secret/secret-cipher.ts";
import { useTestDatabase } from "../harness/database.ts";
import { runTool } from "./harness-tool.ts";

const newKey = () => randomBytes(32).toString("hex");
const [OLD, YOUNG] = [newKey(), newKey()];
const KEYS = `${YOUNG},${OLD}`;
/** Computes a secret key's id as an operator does: `xxd -r -p | sha256sum`. */
const idOf = (key: string) =>
  createHash("sha256").update(Buffer.from(key, "hex")).digest("hex").slice(0, 8);

const database = useTestDatabase();
const reencrypt = (args: string[], secretKeys: string, databaseUrl = database.url) =>
  runTool("reencrypt-secrets.ts", args, { DATABASE_URL: databaseUrl, SECRET_KEYS: secretKeys });

/** `test/operating/rotation.test.ts` runs the tool beside a product that delivers. */
it("ends with 1 while any secret is left, and says under which key", async () => {
  const endpointId = newId();
  const stored = encryptSecret([createSecretKey(Buffer.from(OLD, "hex"))], endpointId, "whsec_x");
  const store = (secret: Buffer) =>
    database.query(
      `REPLACE INTO endpoint (account_no, id, secret, url, kinds, standard_webhooks, switched_on, created_at)
       VALUES (1, ?, ?, '', 0, FALSE, FALSE, 1)`,
      [endpointId, secret],
    );

  await store(stored);
  expect(await reencrypt([], YOUNG)).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining(`1 left under ${idOf(OLD)}: SECRET_KEYS lacks this key`),
    stderr: expect.stringContaining(endpointId),
  });
  await store(Buffer.concat([stored, Buffer.from("damage")]));
  expect(await reencrypt(["--drop", idOf(OLD)], KEYS)).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining(`1 left under ${idOf(OLD)}: `),
    stderr: expect.stringMatching(`${endpointId}\\. .*or they are damaged`),
  });
  await store(stored);
  expect(await reencrypt(["--drop", idOf(OLD)], KEYS)).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(
      new RegExp(`^1 re-encrypted under ${idOf(YOUNG)}\n0 left under ${idOf(OLD)}: `),
    ),
    stderr: "",
  });
});

describe("called wrongly", () => {
  const nowhere = "mysql://root@127.0.0.1:1/nothing";

  it.each([
    ["a key itself", ["--drop", OLD], KEYS],
    ["the first key's ID", ["--drop", idOf(YOUNG)], KEYS],
    ["a key alone", [OLD], KEYS],
    ["one key only", ["--drop", idOf(OLD)], OLD],
    ["broken keys", [], `${OLD.slice(1)},${YOUNG}`],
  ])("with %s, prints its usage and no key", async (_, args, secretKeys) => {
    const { exitCode, stdout, stderr } = await reencrypt(args, secretKeys, nowhere);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("--drop ID");
    for (const key of [OLD, YOUNG]) expect(stderr).not.toContain(key.slice(1));
  });

  it("names the keys that --drop accepts, and a database that does not answer", async () => {
    const { stderr } = await reencrypt(["--drop", "?"], KEYS, nowhere);
    expect(stderr).toContain(`not the first: ${idOf(OLD)}. The first is ${idOf(YOUNG)}.`);
    const unanswered = await reencrypt(["--drop", idOf(OLD)], KEYS, nowhere);
    expect(unanswered.stderr).toMatch(/^The database failed: .+\n$/);
  });
});
