import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import { errorText } from "./error-code.ts";
import { useLimits } from "./limits-context.ts";
import { Notice } from "./notice.tsx";

/** Shows what went wrong and what to do. Shows nothing without an error. */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const limits = useLimits();
  if (!error) return null;
  return (
    <Notice look="bad" role="alert">
      <span>{errorText(error, limits)}</span>
      {onRetry && (
        <Button look="quiet" onClick={onRetry}>
          {texts.retry}
        </Button>
      )}
    </Notice>
  );
}
