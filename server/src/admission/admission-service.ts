import type { AdmissionService } from "@activity/proto";
import type { ServiceImpl } from "@connectrpc/connect";

/** Answers once the authenticate interceptor, which does all the counting and checking, let a call in. */
export function createAdmissionService(): ServiceImpl<typeof AdmissionService> {
  return { admitClient: () => ({}), admitApiKey: () => ({}) };
}
