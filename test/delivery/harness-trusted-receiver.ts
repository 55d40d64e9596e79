import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Behaviour, startReceiver } from "./harness-receiver.ts";
import { sharedCertificates } from "./harness-receiver-certificates.ts";

/**
 * Starts a receiver over TLS. Also returns the variables that let cores and deliveries send to it and trust it. The
 * CA is stored in `folder`; `host` is the receiver's name.
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
