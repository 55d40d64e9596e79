import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";

/** Finds every address of a name, in the order to try; fails when the name has none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

/** Says that a name has no address, with the resolver's own code and nothing else. */
export class NameNotFoundError extends Error {
  override readonly name = "NameNotFoundError";
  readonly code: string;

  constructor(code: string) {
    super(`the name has no address (${code})`);
    this.code = code;
  }
}

/**
 * Makes the resolver that asks the system's DNS servers for A and AAAA records.
 *
 * Not `dns.lookup`: that waits in the process's four threads, where a few names whose servers
 * never answer would hold up every other account's look-ups. It also leaves out the hosts file,
 * which has no public server to offer.
 */
export function createNameResolver(servers?: readonly string[]): ResolveName {
  const resolver = new Resolver({ timeout: 2_000, tries: 2, maxTimeout: 3_000 });
  if (servers) resolver.setServers([...servers]);
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) =>
      answer.status === "fulfilled" ? answer.value.filter((address) => isIP(address) !== 0) : [],
    );
    if (addresses.length > 0) return addresses;
    throw new NameNotFoundError(mostTelling(answers.map(codeOf)));
  };
}

function codeOf(answer: PromiseSettledResult<unknown>): string {
  if (answer.status === "fulfilled") return "ENODATA";
  const { code } = answer.reason as { code?: unknown }; // c-ares errors always carry one
  return typeof code === "string" ? code : "EDNS";
}

/** "No such record" is what one family says of a name that only has the other. */
function mostTelling(codes: readonly string[]): string {
  return codes.find((code) => code !== "ENODATA") ?? "ENODATA";
}
