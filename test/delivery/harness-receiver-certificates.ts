import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certify } from "../harness/certify.ts";

/** A certificate and its key in PEM. */
export type Certificate = { readonly cert: string; readonly key: string };

const GOOD_NAMES =
  "DNS:receiver.test,DNS:*.receiver.test,DNS:localhost,IP:127.0.0.1,IP:0:0:0:0:0:0:0:1";

let shared: ReturnType<typeof makeCertificates> | undefined;

/** Returns certificates that all test files of a process share, because they take a second to make. */
export function sharedCertificates() {
  shared ??= makeCertificates();
  return shared;
}

/** Creates a CA, which clients trust as an extra CA, and certificates of receivers, with `openssl`. */
export function makeCertificates() {
  const folder = mkdtempSync(join(tmpdir(), "activity-ca-"));
  const text = (name: string) => readFileSync(join(folder, name), "utf8");
  const read = (name: string, key = name): Certificate => ({
    cert: text(`${name}.pem`),
    key: text(`${key}.key`),
  });
  try {
    certify(folder, "ca", "DNS:ca.test");
    certify(folder, "good", GOOD_NAMES, "ca");
    certify(folder, "other", "DNS:other.test", "ca");
    certify(folder, "self", GOOD_NAMES);
    // In OpenSSL 3.0 this command has no -not_after. `-days -1` makes the certificate end yesterday.
    const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-days", "-1", "-out", "expired.pem"];
    execFileSync("openssl", ["x509", "-in", "self.pem", ...signed], { cwd: folder, stdio: "pipe" });
    return {
      ca: text("ca.pem"),
      good: read("good"),
      expired: read("expired", "self"),
      otherName: read("other"),
      selfSigned: read("self"),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
