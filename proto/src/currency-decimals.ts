/**
 * The currencies of ISO 4217 that do not have two decimals, by lower-case code: active codes, and codes withdrawn since
 * 2010. `Intl` follows custom instead: it gives the Hungarian forint none, and the Iraqi dinar none instead of three.
 */
export const OTHER_DECIMALS: ReadonlyMap<string, number> = new Map([
  ...withDecimals("bif byr clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf", 0),
  ...withDecimals("bhd iqd jod kwd lyd omr tnd", 3),
  ...withDecimals("clf uyw", 4),
]);

function withDecimals(codes: string, decimals: number): [string, number][] {
  return codes.split(" ").map((code) => [code, decimals]);
}
