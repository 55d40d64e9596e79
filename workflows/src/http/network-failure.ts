export const NOT_HTTP = "the answer is not HTTP";

/** The texts for owners about failed connections, by the failure's code. */
const PHRASE_BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was reset",
  UND_ERR_SOCKET: "the connection was closed before the answer was complete",
  ECLOSED: "the connection was closed before the answer was complete",
  EPROXYTARGET: "the egress proxy could not connect",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the host cannot be reached",
  ETIMEDOUT: "the host cannot be reached",
  CERT_HAS_EXPIRED: "the certificate has expired",
  CERT_NOT_YET_VALID: "the certificate is not valid yet",
  CERT_REVOKED: "the certificate was revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate's issuer is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate's issuer is not trusted",
  // The server sent only its own certificate: the next one is missing, or a private CA signed it.
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    "the certificate's chain is incomplete, or its issuer is not trusted",
  UND_ERR_HEADERS_OVERFLOW: "the answer's headers are too long",
};

const PHRASE_BY_PREFIX: readonly (readonly [prefix: string, phrase: string])[] = [
  ["ERR_SSL_", "the TLS handshake failed"],
  ["EPROTO", "the TLS handshake failed"],
];

/**
 * Describes a failed connection by its code alone. Messages of Node and OpenSSL can hold names, addresses and parts of
 * a certificate.
 */
export function describeNetworkFailure(error: Error): string {
  // The errors of undici's parser have no code.
  if (error.name === "HTTPParserError") return NOT_HTTP;
  const code = codeOf(error);
  if (code === undefined) return "the connection failed";
  const byPrefix = PHRASE_BY_PREFIX.find(([prefix]) => code.startsWith(prefix));
  return `${PHRASE_BY_CODE[code] ?? byPrefix?.[1] ?? "the connection failed"} (${code})`;
}

function codeOf(error: Error): string | undefined {
  const code = "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[A-Z][A-Z0-9_/]{1,60}$/.test(code) ? code : undefined;
}
