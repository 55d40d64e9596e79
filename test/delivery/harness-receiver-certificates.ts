import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate and its key, both PEM. */
export type Certificate = { readonly cert: string; readonly key: string };

/** What a test's receivers show at the TLS handshake. */
export type Certificates = {
  /** The test CA, to be trusted as an extra one. */
  readonly ca: string;
  /** By the CA, for `RECEIVER_NAMES` and the loopback addresses. */
  readonly good: Certificate;
  readonly expired: Certificate;
  readonly otherName: Certificate;
  readonly selfSigned: Certificate;
};

/** The names the good certificate is for. */
export const RECEIVER_NAMES = ["receiver.test", "*.receiver.test", "localhost"] as const;

const GOOD_NAMES = [
  ...RECEIVER_NAMES.map((name) => `DNS:${name}`),
  "IP:127.0.0.1",
  "IP:0:0:0:0:0:0:0:1",
].join(",");

let shared: Certificates | undefined;

/** What test files that run one after another in a process share: it takes a second to make. */
export function sharedCertificates(): Certificates {
  shared ??= makeCertificates();
  return shared;
}

/** Makes a CA and the certificates under it with the `openssl` program. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), "activity-ca-"));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const makeKey = (name: string) =>
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", at(`${name}.key`));
  const read = (name: string): Certificate => ({
    cert: readFileSync(at(`${name}.pem`), "utf8"),
    key: readFileSync(at(`${name}.key`), "utf8"),
  });
  const selfSign = (name: string, subject: string, extension: string) => {
    makeKey(name);
    openssl(
      ...["req", "-x509", "-new", "-key", at(`${name}.key`), "-subj", `/CN=${subject}`],
      ...["-days", "30", "-addext", extension, "-out", at(`${name}.pem`)],
    );
    return read(name);
  };
  const issue = (name: string, names: string, validity: readonly string[]) => {
    makeKey(name);
    writeFileSync(at(`${name}.ext`), `subjectAltName=${names}\n`);
    openssl("req", "-new", "-key", at(`${name}.key`), "-subj", "/CN=r", "-out", at(`${name}.csr`));
    openssl(
      ...["x509", "-req", "-in", at(`${name}.csr`), "-CA", at("ca.pem"), "-CAkey", at("ca.key")],
      ...["-CAcreateserial", "-extfile", at(`${name}.ext`), "-out", at(`${name}.pem`)],
      ...validity,
    );
    return read(name);
  };
  try {
    const { cert: ca } = selfSign("ca", "Test CA", "keyUsage=critical,keyCertSign");
    return {
      ca,
      good: issue("good", GOOD_NAMES, ["-days", "30"]),
      // OpenSSL 3.0 has no -not_after here: -1 puts its end to yesterday.
      expired: issue("expired", GOOD_NAMES, ["-days", "-1"]),
      otherName: issue("other", "DNS:other.test", ["-days", "30"]),
      selfSigned: selfSign("self", "receiver.test", `subjectAltName=${GOOD_NAMES}`),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
