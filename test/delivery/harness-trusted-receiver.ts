import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Behaviour, startReceiver } from "./harness-receiver.ts";
import { sharedCertificates } from "./harness-receiver-certificates.ts";

/**
 * Starts a receiver over TLS, and returns it with the variables by which a core and who delivers may send to it and
 * trust it. `folder` holds the CA for them, and `host` is a name of the receiver.
 */
export async function startTrustedReceiver(
  folder: string,
  behaviour: Behaviour,
  host = "127.0.0.1",
) {
  const certificates = sharedCertificates();
  const extraCa = join(folder, "receiver-ca.pem");
  await writeFile(extraCa, certificates.ca);
  const receiver = await startReceiver(behaviour, certificates.good);
  const target = `${host}:${receiver.port}`;
  const trusting = {
    WEBHOOK_ALLOWED_TARGETS: target,
    WEBHOOK_EXTRA_CA: extraCa,
    ALLOW_UNSAFE_TARGETS: "development",
  };
  return { receiver, target, certificates, trusting };
}
