import { execFileSync } from "node:child_process";

/**
 * Creates a certificate for these names with `openssl`: `<name>.pem` and `<name>.key` in the folder. The authority
 * `ca` signs it. Without `ca` it is an authority itself.
 */
export function certify(folder: string, name: string, names: string, ca?: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  const leaf = ["-addext", "basicConstraints=critical,CA:FALSE"];
  const signer = ca ? ["-CA", `${ca}.pem`, "-CAkey", `${ca}.key`, ...leaf] : [];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=${names}`];
  const files = ["-keyout", `${name}.key`, "-out", `${name}.pem`];
  const args = ["req", "-x509", ...key, ...signer, ...subject, ...files];
  execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
}
