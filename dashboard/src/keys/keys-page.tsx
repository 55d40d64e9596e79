import { type ApiKey, ApiKeyService, SessionScope } from "@activity/proto";
import { useQuery } from "@connectrpc/connect-query";
import { Empty } from "../common/empty.tsx";
import { useLimits } from "../common/limits-context.ts";
import { Loaded } from "../common/loaded.tsx";
import { Notice } from "../common/notice.tsx";
import { Page } from "../common/page.tsx";
import { unlessRefused } from "../common/shown-data.ts";
import { useMay } from "../session/session-context.ts";
import { texts } from "../texts.ts";
import { CreateKey } from "./create-key.tsx";
import { InactiveKeys } from "./inactive-keys.tsx";
import { KeyTable } from "./key-table.tsx";

const READ_AGAIN_MS = 60_000;

/** The account's API keys. Contract 2.7. */
export function KeysPage() {
  const mayWrite = useMay(SessionScope.KEYS_WRITE);
  const query = useQuery(
    ApiKeyService.method.listApiKeys,
    {},
    { refetchInterval: unlessRefused(READ_AGAIN_MS) },
  );
  const limits = useLimits();
  const isFull =
    limits !== undefined && active(query.data?.apiKeys ?? []).length >= limits.activeApiKeys;
  return (
    <Page
      title={texts.pages.keys}
      intro={texts.keys.intro}
      actions={mayWrite && <CreateKey isDisabled={isFull} />}
    >
      {isFull && mayWrite && (
        <Notice look="warn">{texts.limits.api_key_limit_reached?.(limits)}</Notice>
      )}
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
