import { Code, ConnectError } from "@connectrpc/connect";
import { ApplicationFailure } from "@temporalio/common";
import type { Activities } from "../workflow/contract.ts";

/**
 * Returns the same activities, whose failures say which activity failed and with which code. Histories keep failures:
 * no text, address or path of this machine enters them.
 */
export function withBareFailures(activities: Activities): Activities {
  return {
    attempt: bare("attempt", activities.attempt),
    record: bare("record", activities.record),
  };
}

function bare<Input, Output>(name: string, activity: (input: Input) => Promise<Output>) {
  return async (input: Input): Promise<Output> => {
    try {
      return await activity(input);
    } catch (error) {
      const type = Code[ConnectError.from(error).code];
      const failure = ApplicationFailure.create({ message: `${name} failed`, type });
      failure.stack = "";
      throw failure;
    }
  };
}
