import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { atFirstSignal } from "@activity/runtime/end-at-signal";
import { startDatabase } from "../dev-stack/src/database.ts";
import { isPortFree } from "../dev-stack/src/free-port.ts";
import { createProgress } from "../dev-stack/src/progress.ts";
import { startRedis } from "../dev-stack/src/redis.ts";
import { StackError } from "../dev-stack/src/stack-error.ts";
import { startTemporal } from "../dev-stack/src/temporal.ts";
import { startDemoReceiver } from "./demo/demo-receiver.ts";
import { makeSelfSigned, type SelfSigned } from "./demo/self-signed.ts";

const USAGE = `Runs one server to practise with on this machine, until SIGTERM. Its data stay in the FOLDER.

  npx node tools/practice.ts database FOLDER PORT   writes its URL to FOLDER/database-url
  npx node tools/practice.ts redis FOLDER PORT      keeps nothing
  npx node tools/practice.ts temporal FOLDER PORT
  npx node tools/practice.ts receiver FOLDER PORT   prints webhook events; FOLDER/receiver.pem is its certificate, and
                                             FOLDER/signing-secret has its secret
`;

const [name = "", folder = "", portText = ""] = process.argv.slice(2);
const port = Number(portText);
const dataDir = resolve(folder);
// Drops the variables that name the product's servers, because this program starts its own.
const { DATABASE_URL: _, DATABASE_URL_FILE: __, TEMPORAL_ADDRESS: ___, ...env } = process.env;
const progress = createProgress();

try {
  if (folder === "" || !Number.isInteger(port) || port < 1 || port > 65_535)
    throw new StackError(USAGE);
  await mkdir(dataDir, { recursive: true });
  if (!(await isPortFree(port))) {
    throw new StackError(
      `Port ${port} is taken: end the program that has it, or give another one.`,
    );
  }
  const stop = await start();
  // A child server does not keep this process alive, so this timer does.
  setInterval(() => undefined, 60_000);
  atFirstSignal(() => void stop().then(() => process.exit()));
  process.stdout.write(`${name} listens on 127.0.0.1:${port}\n`);
} catch (error) {
  if (!(error instanceof StackError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

/** Starts the requested server. Returns the function that ends it. */
async function start(): Promise<() => Promise<void>> {
  switch (name) {
    case "database": {
      const database = await startDatabase({
        ...{ env, progress, port, dataDir: join(dataDir, "database") },
      });
      await writeFile(join(dataDir, "database-url"), database.url, { mode: 0o600 });
      return database.stop;
    }
    case "redis":
      return (await startRedis({ env, progress, port })).stop;
    case "temporal": {
      const temporal = await startTemporal({
        ...{ env, progress, port, dataDir: join(dataDir, "temporal") },
      });
      return temporal.stop;
    }
    case "receiver": {
      const readSecret = async () =>
        (await readFile(join(dataDir, "signing-secret"), "utf8").catch(() => "")).trim() ||
        undefined;
      const receiver = await startDemoReceiver(port, readSecret, await readCertificate());
      return receiver.stop;
    }
    default:
      throw new StackError(USAGE);
  }
}

/** Reads the receiver's certificate, or creates it at the first start. The product must trust it. */
async function readCertificate(): Promise<SelfSigned> {
  const [certFile, keyFile] = [join(dataDir, "receiver.pem"), join(dataDir, "receiver.key")];
  try {
    return { cert: await readFile(certFile, "utf8"), key: await readFile(keyFile, "utf8") };
  } catch {
    const made = makeSelfSigned(Date.now());
    await writeFile(certFile, made.cert);
    await writeFile(keyFile, made.key, { mode: 0o600 });
    return made;
  }
}
