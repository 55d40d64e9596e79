import { exitWhileStarting } from "./end-at-signal.ts";

// The image loads this before a process's own modules, which take seconds on a busy machine.
exitWhileStarting();
