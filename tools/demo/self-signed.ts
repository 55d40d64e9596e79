import { generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto";

/** A self-signed certificate and its key, both PEM. */
export type SelfSigned = { readonly cert: string; readonly key: string };

const DAY_MS = 86_400_000;
const VALID_DAYS = 365;
const TAG = {
  ...{ boolean: 0x01, integer: 0x02, bits: 0x03, octets: 0x04, id: 0x06, utf8: 0x0c },
  ...{ utcTime: 0x17, sequence: 0x30, set: 0x31, address: 0x87, version: 0xa0, extensions: 0xa3 },
};
const ECDSA_WITH_SHA256 = der(TAG.sequence, id("2a8648ce3d040302"));
const COMMON_NAME = id("550403");
const SUBJECT_ALT_NAME = id("551d11");
const BASIC_CONSTRAINTS = id("551d13");

/**
 * Makes a certificate for 127.0.0.1 with its own key. Node can read certificates but not write them. The package
 * `selfsigned` can, but has a dozen dependencies.
 */
export function makeSelfSigned(nowMs: number): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const named = der(TAG.utf8, Buffer.from("local receiver"));
  const name = der(TAG.sequence, der(TAG.set, der(TAG.sequence, COMMON_NAME, named)));
  const isCa = der(TAG.sequence, der(TAG.boolean, Buffer.from([0xff])));
  const address = der(TAG.sequence, der(TAG.address, Buffer.from([127, 0, 0, 1])));
  const body = der(
    TAG.sequence,
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.from([1]), randomBytes(15)),
    ECDSA_WITH_SHA256,
    name,
    der(TAG.sequence, utcTime(nowMs - DAY_MS), utcTime(nowMs + VALID_DAYS * DAY_MS)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(
      TAG.extensions,
      der(
        TAG.sequence,
        der(TAG.sequence, BASIC_CONSTRAINTS, der(TAG.octets, isCa)),
        der(TAG.sequence, SUBJECT_ALT_NAME, der(TAG.octets, address)),
      ),
    ),
  );
  const signature = der(TAG.bits, Buffer.from([0]), sign("sha256", body, privateKey));
  const whole = new X509Certificate(der(TAG.sequence, body, ECDSA_WITH_SHA256, signature));
  const key = privateKey.export({ type: "pkcs8", format: "pem" }) as string; // PEM is text
  return { cert: whole.toString(), key };
}

function id(hex: string): Buffer {
  return der(TAG.id, Buffer.from(hex, "hex"));
}

/** Encodes one ASN.1 value in DER. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** Encodes a time as `YYMMDDHHMMSSZ`. */
function utcTime(milliseconds: number): Buffer {
  const text = new Date(milliseconds).toISOString().replace(/[-:T]/g, "").slice(2, 14);
  return der(TAG.utcTime, Buffer.from(`${text}Z`));
}
