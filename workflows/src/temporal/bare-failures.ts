import { Code, ConnectError } from "@connectrpc/connect";
import { ApplicationFailure } from "@temporalio/common";
import type { Activities } from "../workflow/contract.ts";

/**
 * Wraps the activities so that a failure holds only the activity's name and the code. Histories keep failures, and must
 * hold no text, address or path of this machine.
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
