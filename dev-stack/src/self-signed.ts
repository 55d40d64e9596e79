import { generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto";

/** A certificate that trusts itself alone, and its key, both PEM. */
export type SelfSigned = { readonly cert: string; readonly key: string };

const DAY_MS = 86_400_000;
const VALID_DAYS = 365;
const ECDSA_WITH_SHA256 = oid("2a8648ce3d040302");
const COMMON_NAME = oid("550403");
const SUBJECT_ALT_NAME = oid("551d11");
const BASIC_CONSTRAINTS = oid("551d13");

/**
 * Makes a certificate for 127.0.0.1 with a key of its own. Node reads certificates and writes none;
 * `selfsigned` does, with a dozen packages behind it.
 */
export function makeSelfSigned(nowMs: number): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(COMMON_NAME, der(0x0c, Buffer.from("local receiver")))));
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    sequence(ECDSA_WITH_SHA256),
    name,
    sequence(utcTime(nowMs - DAY_MS), utcTime(nowMs + VALID_DAYS * DAY_MS)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(
      0xa3,
      sequence(
        extension(BASIC_CONSTRAINTS, sequence(der(0x01, Buffer.from([0xff])))),
        extension(SUBJECT_ALT_NAME, sequence(der(0x87, Buffer.from([127, 0, 0, 1])))),
      ),
    ),
  );
  const signature = sign("sha256", body, privateKey);
  const bits = der(0x03, Buffer.concat([Buffer.from([0]), signature]));
  const whole = new X509Certificate(sequence(body, sequence(ECDSA_WITH_SHA256), bits));
  return {
    cert: whole.toString(),
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  }; // PEM is text
}

/** Writes one value of ASN.1 in DER. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function set(part: Buffer): Buffer {
  return der(0x31, part);
}

function integer(bytes: Buffer): Buffer {
  return der(0x02, bytes);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function extension(id: Buffer, value: Buffer): Buffer {
  return sequence(id, der(0x04, value));
}

/** `YYMMDDHHMMSSZ` */
function utcTime(milliseconds: number): Buffer {
  const text = new Date(milliseconds).toISOString().replace(/[-:T]/g, "").slice(2, 14);
  return der(0x17, Buffer.from(`${text}Z`));
}
