import type { DescMessage, DescMethodUnary } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";

/**
 * A call that changes something: whatever is on the screen is read again once it has succeeded. Its answer, which
 * may hold a secret, is forgotten with the component that asked.
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
