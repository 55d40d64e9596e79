import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import { errorText } from "./error-code.ts";
import { Notice } from "./notice.tsx";

/** Says what went wrong and what to do; nothing without an error. */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (!error) return null;
  return (
    <Notice look="bad" role="alert">
      <span>{errorText(error)}</span>
      {onRetry && (
        <Button look="quiet" onClick={onRetry}>
          {texts.retry}
        </Button>
      )}
    </Notice>
  );
}
