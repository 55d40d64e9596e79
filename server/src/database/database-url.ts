import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";

/** Where the database is, and how its connections are secured. */
export type DatabaseAddress = {
  /** `mysql://user:password@host:port/name`, without parameters. */
  readonly uri: string;
  /** The server's name or address, IPv6 without brackets. Without a host in the URL, this is `localhost`. */
  readonly host: string;
  /**
   * Present if the connection uses TLS. The authority `ca` must have signed the server's certificate. Without `ca`, an
   * authority that Node trusts by default must have signed it.
   */
  readonly tls: { readonly ca: Buffer | undefined } | undefined;
};

/** DATABASE_URL is invalid. The message says what it must be, and shows nothing of its value. */
export class DatabaseUrlError extends Error {
  override readonly name = "DatabaseUrlError";
}

const TLS_MODE = "VERIFY_IDENTITY";
/** The URL's path: the database's name, which may be absent on Vitess. */
const PATH = /^(\/[^/@]*)?$/;
/** Matches parameters that are the rest of a password: they have an `@` before any `=`. */
const CUT = /^\?[^=]*@/;

/**
 * Parses `mysql://user:password@host:port/name`, with the parameters `ssl-mode=VERIFY_IDENTITY` and `ssl-ca=<file>`
 * of MySQL's own URLs. Any other parameter is refused: a misspelt one would leave the connection in plain text, and
 * the driver accepts all its options from a URL. Throws DatabaseUrlError.
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // An unencoded /, ? or # ends the host early: the user or password would become host, port, path or parameters.
  const isCut = url !== undefined && (url.hash !== "" || CUT.test(url.search));
  if (url?.protocol !== "mysql:" || isCut || !PATH.test(url.pathname)) {
    throw new DatabaseUrlError(
      "DATABASE_URL must be mysql://user:password@host:port/name, with /, ? and # in user and password percent-encoded as %2F, %3F and %23.",
    );
  }
  const { "ssl-mode": mode, "ssl-ca": ca, ...others } = Object.fromEntries(url.searchParams);
  if (Object.keys(others).length > 0) {
    throw new DatabaseUrlError("DATABASE_URL takes only the parameters ssl-mode and ssl-ca.");
  }
  const hasParameters = url.search !== "";
  if (hasParameters && mode !== TLS_MODE) {
    throw new DatabaseUrlError(`DATABASE_URL takes ssl-mode=${TLS_MODE} only, and ssl-ca with it.`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, "") || "localhost";
  if (hasParameters && isIP(host) !== 0) {
    // Refuses an IP address, because the driver compares the certificate only with a host's name.
    throw new DatabaseUrlError(
      "DATABASE_URL needs the server's name, as its certificate has it, in place of an IP address when ssl-mode is given.",
    );
  }
  url.search = "";
  checkEncoding(url);
  return { uri: url.href, host, tls: hasParameters ? { ca: readAuthority(ca) } : undefined };
}

/** Checks the encoding first, because the driver decodes each part and its error would not name the variable. */
function checkEncoding({ href }: URL): void {
  try {
    decodeURIComponent(href);
  } catch {
    throw new DatabaseUrlError(
      "The user, password and name in DATABASE_URL must be percent-encoded, a percent sign as %25.",
    );
  }
}

function readAuthority(path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    const pem = readFileSync(path);
    // Checks the file as text, because TLS takes no DER. Of a bundle, this checks only the first certificate.
    new X509Certificate(pem.toString());
    return pem;
  } catch {
    throw new DatabaseUrlError(
      "The ssl-ca of DATABASE_URL must be the path of a PEM file with a CA's certificate that this process can read.",
    );
  }
}
