import { redactText } from "@activity/runtime/redaction";

/** Matches an error number of the operating system in the forms that servers write. */
function systemError(number: number, ...phrases: readonly string[]): RegExp {
  const written = `\\berr(?:or|no|code)?(?: number| code)?:? ${number}\\b`;
  return new RegExp([written, ...phrases].join("|"), "i");
}

/** Why a server ended and what to do. If several entries match, the first is the cause of the others. */
const CAUSES: readonly [RegExp, string][] = [
  [
    systemError(28, "no space left on device", "out of disk space", "the table '[^']*' is full"),
    "the disk that holds its data is full; free some space and start again",
  ],
  [systemError(122), "the disk quota is used up; free some space and start again"],
  [
    systemError(98, "address already in use"),
    "its port is taken by another program; stop that program or choose another port",
  ],
  [
    /unable to lock \S*ibdata1|can't lock aria|another mysqld process|another process with pid/i,
    "another database server is using its data; stop that server and start again",
  ],
  [
    /unsupported redo log format|invalid mysql server (up|down)grade|later version|cannot (boot|upgrade|downgrade) server|upgrade after a crash is not supported|unsupported .*data dictionary/i,
    "its data was written by another version of the server; set MYSQLD to a server of that version, or name another data folder",
  ],
  [
    systemError(12, "cannot allocate memory", "out of memory"),
    "there is not enough memory; close other programs and start again",
  ],
  [
    /error while loading shared libraries: ([^:\s]+)/i,
    "it lacks the library $1; install that library, or set MYSQLD to another server",
  ],
  [
    /unknown (?:variable|option) '?([^'\n]+)'?/i,
    "it does not know the option $1; leave that option out",
  ],
  [
    systemError(30, "read-only file system"),
    "its data lies on a read-only file system; name a folder that can be written to",
  ],
  [
    systemError(13, "permission denied"),
    "the system does not let it use its data folder; correct the folder's owner and rights (on Ubuntu, AppArmor keeps an installed mysqld to its own folders: set MYSQLD to another)",
  ],
  [
    /corrupt|checksum mismatch|missing mlog_checkpoint/i,
    "its data is damaged; put a backup in its place, or name another data folder",
  ],
];

/** Finds in a server's log why it ended: the first known cause, otherwise the first error line. */
export function findLogCause(log: string): string {
  for (const [pattern, sentence] of CAUSES) {
    const match = pattern.exec(log);
    if (match) return sentence.replace("$1", match[1] ?? "");
  }
  // Later errors are mostly consequences of the first.
  const error = log.split("\n").find((line) => /\[ERROR\]|^ERROR|\bfatal\b/i.test(line));
  return error ? `it says “${redactText(shorten(error))}”` : "it gives no reason";
}

/** Removes time, thread and codes before the text of a log line. */
function shorten(line: string): string {
  return line.replace(/^.*?\[ERROR\]\s*(\[[^\]]*\]\s*)*/, "").slice(0, 300);
}
