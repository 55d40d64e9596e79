import type { Account } from "@activity/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { type CoreClient, explainCallError } from "./core-client.ts";
import { ImportError } from "./import-error.ts";

const ACCOUNT_ID = /^[a-z0-9]{15}$/;
const USERNAME = /^[A-Za-z0-9_.-]{1,64}$/;

/**
 * Finds an account by its id, else by its username. The id comes first, because somebody could choose another
 * account's id as username to get its donations. Throws an ImportError.
 */
export async function readAccountByName(core: CoreClient, name: string): Promise<Account> {
  const account =
    (ACCOUNT_ID.test(name) ? await findAccount(core, { accountId: name }) : undefined) ??
    (USERNAME.test(name) ? await findAccount(core, { username: name }) : undefined);
  if (account !== undefined) return account;
  throw new ImportError(
    `The core at ${core.coreUrl} has no account with the username or id "${name}".`,
  );
}

async function findAccount(
  core: CoreClient,
  request: { accountId: string } | { username: string },
): Promise<Account | undefined> {
  try {
    return (await core.accounts.getAccount(request)).account;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw explainCallError(error, core.coreUrl);
  }
}
