/** One source of packages as apt's own files describe it. */
export interface AptSource {
  uri: string;
  suites: readonly string[];
  components: readonly string[];
  signedBy: string;
}

const ONE_LINE = /^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*(.*)$/;

/** Parses a `sources.list` or `*.list` file; lines it does not understand are left out. */
export function parseListFile(text: string): AptSource[] {
  return text.split("\n").flatMap((line) => {
    const [, options = "", uri, suite, components = ""] = ONE_LINE.exec(line.trim()) ?? [];
    if (uri === undefined || suite === undefined) return [];
    const signedBy = /signed-by=(\S+)/.exec(options)?.[1] ?? "";
    const names = words(components.replace(/#.*/, ""));
    return [{ uri, suites: [suite], components: names, signedBy }];
  });
}

/** Parses a `*.sources` file (deb822); paragraphs that are switched off are left out. */
export function parseSourcesFile(text: string): AptSource[] {
  return text.split(/\n\s*\n/).flatMap((paragraph) => {
    const fields = parseFields(paragraph);
    const uris = words(fields.get("uris") ?? "");
    const isOn = !/^(no|false|0)$/i.test(fields.get("enabled") ?? "yes");
    if (!isOn || !words(fields.get("types") ?? "").includes("deb")) return [];
    return uris.map((uri) => ({
      uri,
      suites: words(fields.get("suites") ?? ""),
      components: words(fields.get("components") ?? ""),
      signedBy: fields.get("signed-by") ?? "",
    }));
  });
}

/** Picks the source that is a Debian mirror: the one that carries `codename` itself. */
export function findDebianMirror(
  sources: readonly AptSource[],
  codename: string,
): string | undefined {
  const suites = new Set([codename, "stable", "testing", "unstable", "sid"]);
  return sources
    .filter((source) => source.components.includes("main"))
    .filter((source) => source.suites.some((suite) => suites.has(suite)))
    .filter((source) => !source.uri.includes("snapshot"))
    .toSorted((one, other) => mirrorLikeness(other) - mirrorLikeness(one))[0]?.uri;
}

/** Other makers' sources use Debian's suite names too, so what speaks for a mirror is counted. */
function mirrorLikeness({ uri, signedBy }: AptSource): number {
  const signs = [
    signedBy.includes("debian-archive-keyring"),
    /^[^/]+\/\/[^/]*debian\.org(\/|$)/.test(uri),
    /\/debian(\.list)?\/?$/.test(uri),
  ];
  return signs.filter(Boolean).length;
}

function parseFields(paragraph: string): Map<string, string> {
  const fields = new Map<string, string>();
  let name = "";
  for (const line of paragraph.split("\n").filter((text) => !text.startsWith("#"))) {
    const [, key, value = ""] = /^([\w-]+):\s*(.*)$/.exec(line) ?? [];
    if (key !== undefined) name = key.toLowerCase();
    fields.set(name, key === undefined ? `${fields.get(name) ?? ""} ${line.trim()}` : value.trim());
  }
  return fields;
}

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}
