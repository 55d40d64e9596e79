import type { DescMessage, DescMethodUnary } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";

/**
 * A call that changes something. When it succeeds, the page reads all visible data again. The answer may hold a secret,
 * so the cache drops it when the component is removed.
 */
export function useChange<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
) {
  const queryClient = useQueryClient();
  return useMutation(method, {
    gcTime: 0,
    onSuccess: () => void queryClient.invalidateQueries(),
  });
}
