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
 * What the question for one family gets once the other has addresses: long enough to be asked a second time.
 * Servers that are silent on AAAA would take the attempt's ten seconds for themselves.
 */
const OTHER_FAMILY_MS = 3_000;

/** The codes of a question that reached no server: it says nothing of the name. */
const UNREACHED: ReadonlySet<string> = new Set(["ECONNREFUSED", "ETIMEOUT"]);

/**
 * Makes the resolver that asks the system's DNS servers for A and AAAA records.
 *
 * Not `dns.lookup`: that waits in the process's four threads, where a few names whose servers
 * never answer would hold up every other account's look-ups. It also leaves out the hosts file,
 * which has no public server to offer.
 */
export function createNameResolver(servers?: readonly string[]): ResolveName {
  let resolver: Resolver | undefined;
  return async (name) => {
    resolver ??= openResolver(servers);
    const asked = resolver;
    const answers = await bothFamilies(asked.resolve4(name), asked.resolve6(name));
    const addresses = answers.flatMap((answer) =>
      answer.status === "fulfilled" ? answer.value : [],
    );
    if (addresses.length > 0) return addresses;
    const codes = answers.map(codeOf);
    // A resolver keeps the servers that the system had when it was made, and a machine that changed networks
    // has others: the next look-up reads them anew.
    const isUnreached = codes.every((code) => UNREACHED.has(code));
    if (isUnreached && resolver === asked) resolver = undefined;
    throw new NameNotFoundError(mostTelling(codes));
  };
}

function openResolver(servers?: readonly string[]): Resolver {
  const resolver = new Resolver({ timeout: 2_000, tries: 2, maxTimeout: 3_000 });
  if (servers) resolver.setServers([...servers]);
  return resolver;
}

/** Waits for both questions; for the second no longer than `OTHER_FAMILY_MS` once one found addresses. */
async function bothFamilies(
  ...questions: readonly Promise<readonly string[]>[]
): Promise<PromiseSettledResult<readonly string[]>[]> {
  const late = Promise.withResolvers<readonly string[]>();
  let timer: NodeJS.Timeout | undefined;
  const ask = async (question: Promise<readonly string[]>) => {
    // A late question ends by itself, unheard: to cancel it would cancel everybody's.
    const records = await Promise.race([question, late.promise]);
    const addresses = records.filter((address) => isIP(address) !== 0);
    if (addresses.length > 0) timer ??= setTimeout(() => late.resolve([]), OTHER_FAMILY_MS);
    return addresses;
  };
  const answers = await Promise.allSettled(questions.map(ask));
  clearTimeout(timer);
  return answers;
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
