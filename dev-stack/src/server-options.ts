import { LOOPBACK } from "./free-port.ts";
import type { ServerFlavour } from "./server-program.ts";

const SQL_MODE = [
  ...["ONLY_FULL_GROUP_BY", "STRICT_TRANS_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE"],
  ...["ERROR_FOR_DIVISION_BY_ZERO", "NO_ENGINE_SUBSTITUTION"],
];

/** Returns the options of a running server: loopback only, UTC, utf8mb4, strict. */
export function serveOptions(
  flavour: ServerFlavour,
  { data, initFile, port }: { data: string; initFile: string; port: number },
  isEphemeral: boolean,
): string[] {
  return [
    ...commonOptions(flavour, data),
    `--bind-address=${LOOPBACK}`,
    `--port=${port}`,
    // The server runs in the data folder, and the socket is in the folder above. An absolute path could be too long.
    "--socket=../server.sock",
    `--init-file=${initFile}`,
    ...["--skip-name-resolve", "--max-connections=300", "--local-infile=OFF"],
    ...["--default-time-zone=+00:00", "--character-set-server=utf8mb4"],
    "--collation-server=utf8mb4_bin",
    `--sql-mode=${SQL_MODE.join()}`,
    ...(isEphemeral ? fastOptions(flavour) : durableOptions(flavour)),
  ];
}

/** Returns the options for creating the system tables in an empty data folder. */
export function createOptions(
  flavour: ServerFlavour,
  data: string,
  isEphemeral: boolean,
): string[] {
  // If the creation is killed halfway, the folder is created again. So only the complete folder must be safe on disk.
  const own = isEphemeral ? fastOptions(flavour) : ["--innodb-flush-log-at-trx-commit=2"];
  return [...commonOptions(flavour, data), ...own];
}

/** Returns the option that names the data. It also distinguishes our processes from others'. */
export function dataOption(data: string): string {
  return `--datadir=${data}`;
}

function commonOptions(flavour: ServerFlavour, data: string): string[] {
  // Servers refuse to run as root without this option.
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  // The binary log doubles each write, and nothing here reads it.
  const ofMysql = ["--skip-log-bin", "--mysqlx=OFF", "--secure-file-priv=NULL"];
  // No table of the product uses these engines, but by default their buffers take 30 MB at the start.
  const unused = ["--aria-pagecache-buffer-size=8M", "--key-buffer-size=1M"];
  // Gives MariaDB its own folder, because at its start it deletes all temporary tables there. In a shared folder, other
  // servers would lose theirs.
  const ofMariadb = [`--tmpdir=${data}`, ...unused];
  return [dataOption(data), ...user, ...(flavour === "mysql" ? ofMysql : ofMariadb)];
}

function durableOptions(flavour: ServerFlavour): string[] {
  const safe = ["--innodb-flush-log-at-trx-commit=1", "--innodb-doublewrite=ON"];
  return [...safe, "--innodb-buffer-pool-size=256M", redoLog(flavour, "256M")];
}

/** Returns fast options. With them, data survives a crash of the server but not of the machine. */
function fastOptions(flavour: ServerFlavour): string[] {
  return [
    ...["--innodb-flush-log-at-trx-commit=2", "--innodb-doublewrite=OFF"],
    ...["--innodb-flush-method=nosync", "--innodb-buffer-pool-size=128M"],
    redoLog(flavour, "64M"),
    ...(flavour === "mysql" ? [] : ["--aria-log-file-size=8M"]),
  ];
}

function redoLog(flavour: ServerFlavour, size: string): string {
  return flavour === "mysql"
    ? `--innodb-redo-log-capacity=${size}`
    : `--innodb-log-file-size=${size}`;
}
