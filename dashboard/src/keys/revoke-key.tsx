import { type ApiKey, ApiKeyService } from "@activity/proto";
import { Button } from "../common/button.tsx";
import { ConfirmDialog } from "../common/confirm-dialog.tsx";
import { UntrustedText } from "../common/untrusted-text.tsx";
import { useChange } from "../common/use-change.ts";
import { texts } from "../texts.ts";

/** Revokes a key after the owner confirms. */
export function RevokeKey({ apiKey }: { apiKey: ApiKey }) {
  const { mutateAsync, error, isPending, reset } = useChange(ApiKeyService.method.revokeApiKey);
  return (
    <ConfirmDialog
      title={texts.keys.revokeTitle}
      text={texts.keys.revokeText}
      subject={
        <strong>
          <UntrustedText text={apiKey.name} /> <code>{apiKey.prefix}…</code>
        </strong>
      }
      action={texts.keys.revoke}
      onConfirm={() => mutateAsync({ apiKeyId: apiKey.id })}
      error={error}
      isPending={isPending}
      onClosed={reset}
      trigger={(open) => (
        <Button onClick={open} look="quiet" aria-label={`${texts.keys.revoke}: ${apiKey.name}`}>
          {texts.keys.revoke}
        </Button>
      )}
    />
  );
}
