import { type ApiKey, ApiKeyService, SessionScope } from "@activity/proto";
import { useQuery } from "@connectrpc/connect-query";
import { Empty } from "../common/empty.tsx";
import { Loaded } from "../common/loaded.tsx";
import { Notice } from "../common/notice.tsx";
import { Page } from "../common/page.tsx";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import { CreateKey } from "./create-key.tsx";
import { InactiveKeys } from "./inactive-keys.tsx";
import { KeyTable } from "./key-table.tsx";

/** The most active keys of an account. Contract 8. */
const MAX_ACTIVE = 10;
const READ_AGAIN_MS = 60_000;

/** The account's API keys. Contract 2.7. */
export function KeysPage() {
  const mayWrite = useMay(SessionScope.KEYS_WRITE);
  const query = useQuery(ApiKeyService.method.listApiKeys, {}, { refetchInterval: READ_AGAIN_MS });
  const isFull = active(query.data?.apiKeys ?? []).length >= MAX_ACTIVE;
  return (
    <Page
      title={texts.pages.keys}
      intro={texts.keys.intro}
      actions={mayWrite && <CreateKey isDisabled={isFull} />}
    >
      {isFull && mayWrite && <Notice look="warn">{texts.keys.limit}</Notice>}
      <Loaded query={query}>
        {({ apiKeys }) => (
          <>
            {active(apiKeys).length > 0 ? (
              <KeyTable keys={active(apiKeys)} mayWrite={mayWrite} />
            ) : (
              <Empty title={texts.keys.empty} text={texts.keys.emptyText} />
            )}
            <InactiveKeys keys={apiKeys.filter((key) => !key.active)} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function active(keys: readonly ApiKey[]): readonly ApiKey[] {
  return keys.filter((key) => key.active);
}
