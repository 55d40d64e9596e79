import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { EndpointService } from "@activity/proto";
import { Permission } from "@activity/server";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verify } from "../../receiver-kit/src/index.ts";
import { newId } from "../../server/src/common/ids.ts";
import { createSecretKey, encryptSecret } from "../../server/src/signing-secret/secret-cipher.ts";
import type { Product } from "../../tools/serve/product.ts";
import {
  ALL_KINDS,
  type DeliveryStack,
  startDeliveryStack,
} from "../delivery/harness-deliveries.ts";
import type { Behaviour } from "../delivery/harness-receiver.ts";
import { answer } from "../delivery/harness-receiver-behaviours.ts";
import { createAccount } from "../harness/builders.ts";

const TOOL = fileURLToPath(new URL("../../tools/rotate-secrets.ts", import.meta.url));
const ENDPOINTS = 10;
/** Others in front of them and behind them, so that the tool runs for a while. */
const OTHERS = 1_000;
/** Tests to each endpoint, on either side of the tool's run. */
const ROUNDS = 3;

const newKey = () => randomBytes(32).toString("hex");
const [OLD, YOUNG] = [newKey(), newKey()];
/** As an operator would find it: `xxd -r -p | sha256sum`. */
const idOf = (key: string) =>
  createHash("sha256").update(Buffer.from(key, "hex")).digest("hex").slice(0, 8);

type Result = { exitCode: number; stdout: string; stderr: string };

function runTool(args: string[], secretKeys: string, databaseUrl: string): Promise<Result> {
  return new Promise((resolve) => {
    const env = { ...process.env, DATABASE_URL: databaseUrl, SECRET_KEYS: secretKeys };
    execFile(process.execPath, [TOOL, ...args], { env }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : 1, stdout, stderr });
    });
  });
}

describe("beside a core that delivers", () => {
  let delivery: DeliveryStack;
  /** Both keys are known to it, the old one in front. */
  let both: Product;
  let credential: string;
  let accountId: string;
  /** The secret that each endpoint's deliveries must be signed with, by its path. */
  const secrets = new Map<string, string>();
  const endpointIds: string[] = [];
  let taken = 0;
  let refused = 0;
  let sent = 0;
  beforeAll(async () => {
    const receiver: Behaviour = (socket, request) => void receive(socket, request);
    delivery = await startDeliveryStack(receiver, { delivers: false });
    both = await delivery.startDelivering({ SECRET_KEYS: `${OLD},${YOUNG}` });
    credential = await delivery.stack.credential(Permission.EndpointManage);
    accountId = await createAccount(delivery.stack);
    for (let number = 0; number < ENDPOINTS; number++) await createEndpoint(`/${number}`);
    for (const accountNo of [1, 2 ** 52]) await storeOthers(accountNo);
  });
  afterAll(() => delivery.stop());

  const endpoints = (product = both) => {
    const transport = createGrpcTransport({
      baseUrl: `http://127.0.0.1:${product.corePort}`,
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${credential}`);
          return next(request);
        },
      ],
    });
    return createClient(EndpointService, transport);
  };

  async function storeOthers(accountNo: number): Promise<void> {
    const key = createSecretKey(Buffer.from(OLD, "hex"));
    const rows = Array.from({ length: OTHERS }, () => {
      const id = newId();
      return [accountNo, id, encryptSecret([key], id, "whsec_other")];
    });
    await delivery.stack.database.query(
      `INSERT INTO endpoint (account_no, id, secret, url, kinds, standard_webhooks, switched_on, created_at)
       VALUES ${rows.map(() => "(?, ?, ?, '', 0, FALSE, FALSE, 1)").join(", ")}`,
      rows.flat(),
    );
  }

  async function createEndpoint(path: string): Promise<void> {
    const url = `https://127.0.0.1:${delivery.receiver.port}${path}`;
    const call = { accountId, url, kinds: { kinds: ALL_KINDS } };
    const { endpoint, secret } = await endpoints().createEndpoint(call);
    endpointIds.push(endpoint?.id ?? "");
    secrets.set(path, secret);
  }

  async function receive(...[socket, request]: Parameters<Behaviour>): Promise<void> {
    const { body, headers, requestLine } = request;
    const secret = secrets.get(requestLine.split(" ")[1] ?? "");
    const isSigned = await verify(body, Object.fromEntries(headers), { secrets: secret }).then(
      () => true,
      () => false,
    );
    if (isSigned) taken += 1;
    else refused += 1;
    answer(isSigned ? 204 : 400)(socket, request);
  }

  /** Sends a test to each endpoint. */
  async function sendRound(through = endpoints()): Promise<void> {
    await delivery.stack.database.query("UPDATE account SET test_times = NULL");
    const send = (endpointId: string) => through.sendTest({ accountId, endpointId });
    await Promise.all(endpointIds.map(send));
    sent += endpointIds.length;
  }
  const allArrived = () =>
    expect.poll(() => [taken, refused], { timeout: 30_000 }).toEqual([sent, 0]);

  it("re-encrypts under attempts that are all signed rightly, and then a core without the old key signs them too", async () => {
    const { database } = delivery.stack;
    // One rotation is pending all the while, the moment of another passes before the tool runs.
    const rotate = async (number: number, signsFrom: number) => {
      const key = { accountId, endpointId: endpointIds[number] ?? "" };
      return endpoints().rotateSecret({ ...key, signsFrom: timestampFromMs(signsFrom) });
    };
    await rotate(0, Date.now() + 3_600_000);
    const moment = Date.now() + 1_000;
    secrets.set("/1", (await rotate(1, moment)).secret);
    await expect.poll(Date.now).toBeGreaterThan(moment);

    await sendRound();
    await allArrived();

    let isRunning = true;
    const through = endpoints();
    const load = (async () => {
      while (isRunning) await sendRound(through);
      const sentMeanwhile = sent;
      for (let round = 0; round < ROUNDS; round++) await sendRound(through);
      return sentMeanwhile;
    })();
    const result = await runTool(["--drop", idOf(OLD)], `${YOUNG},${OLD}`, database.url);
    isRunning = false;
    expect(result).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(
        new RegExp(
          `^${ENDPOINTS + 2 + 2 * OTHERS} encrypted anew, under ${idOf(YOUNG)}\n0 left under ${idOf(OLD)}: `,
        ),
      ),
      stderr: "",
    });
    expect(await load).toBeGreaterThan(ROUNDS * ENDPOINTS);
    await allArrived();

    await both.stop();
    const one = await delivery.startDelivering({ SECRET_KEYS: YOUNG });
    for (let round = 0; round < ROUNDS; round++) await sendRound(endpoints(one));
    await allArrived();
    const log = delivery.stack.log.join("");
    for (const text of [OLD, YOUNG, ...secrets.values(), "cannot be decrypted"]) {
      expect(log).not.toContain(text);
    }
  }, 120_000);

  it("ends with 1 while any secret is left, and says under which key", async () => {
    const { database } = delivery.stack;
    const [endpointId = ""] = endpointIds;
    const key = createSecretKey(Buffer.from(OLD, "hex"));
    const store = (secret: Buffer) =>
      database.query("UPDATE endpoint SET secret = ? WHERE id = ?", [secret, endpointId]);
    const stored = encryptSecret([key], endpointId, "whsec_x");

    await store(stored);
    expect(await runTool([], YOUNG, database.url)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining(`1 left under ${idOf(OLD)}: SECRET_KEYS lacks this key`),
      stderr: expect.stringContaining(endpointId),
    });
    await store(Buffer.concat([stored, Buffer.from("damage")]));
    expect(await runTool(["--drop", idOf(OLD)], `${YOUNG},${OLD}`, database.url)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining(`1 left under ${idOf(OLD)}: `),
      stderr: expect.stringContaining(endpointId),
    });
    await store(stored);
    expect(await runTool([], `${YOUNG},${OLD}`, database.url)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^1 encrypted anew, .*\n0 left under /),
    });
  });
});

describe("called wrongly", () => {
  const [keys, nowhere] = [`${YOUNG},${OLD}`, "mysql://root@127.0.0.1:1/nothing"];

  it.each([
    ["a key itself", ["--drop", OLD], keys],
    ["the first key's ID", ["--drop", idOf(YOUNG)], keys],
    ["nothing to drop", ["--drop"], keys],
    ["a key alone", [OLD], keys],
    ["one key only", ["--drop", idOf(OLD)], OLD],
    ["broken keys", [], `${OLD.slice(1)},${YOUNG}`],
  ])("with %s, it explains itself and shows no key", async (_, args, secretKeys) => {
    const { exitCode, stdout, stderr } = await runTool(args, secretKeys, nowhere);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("--drop ID");
    for (const key of [OLD, YOUNG]) expect(stderr).not.toContain(key.slice(1));
  });

  it("names the keys that --drop takes, and tells of a database that does not answer", async () => {
    const { stderr } = await runTool(["--drop", "?"], keys, nowhere);
    expect(stderr).toContain(`not the first: ${idOf(OLD)}. The first is ${idOf(YOUNG)}.`);
    const unanswered = await runTool(["--drop", idOf(OLD)], keys, nowhere);
    expect(unanswered.stderr).toMatch(/^The database did not answer: .*\n$/);
  });
});
