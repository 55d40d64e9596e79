import type { DescMessage, DescMethodUnary } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { changeError, isPassing } from "./error-code.ts";

/**
 * A call that changes something. When it succeeds, or when its answer is lost, the page reads all visible data again.
 * The answer may hold a secret, so the cache drops it when the component is removed.
 */
export function useChange<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
) {
  const queryClient = useQueryClient();
  const change = useMutation(method, {
    gcTime: 0,
    onSettled: (_, error) => {
      if (error === null || isPassing(error)) void queryClient.invalidateQueries();
    },
  });
  return { ...change, error: changeError(change.error) };
}
