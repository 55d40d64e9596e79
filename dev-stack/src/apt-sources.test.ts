import { describe, expect, it } from "vitest";
import { findDebianMirror, parseListFile, parseSourcesFile } from "./apt-sources.ts";

const DEBIAN = `# made by the installer
Types: deb deb-src
URIs: https://mirror.example/debian/
Suites: bookworm bookworm-updates
Components: main
 contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: https://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
Enabled: no
URIs: https://off.example/debian
Suites: bookworm
Components: main
`;

describe("parseSourcesFile", () => {
  it("reads each paragraph that is switched on", () => {
    const sources = parseSourcesFile(DEBIAN);
    expect(sources.map(({ uri }) => uri)).toEqual([
      "https://mirror.example/debian/",
      "https://mirror.example/debian-security",
    ]);
    expect(sources[0]).toMatchObject({
      suites: ["bookworm", "bookworm-updates"],
      components: ["main", "contrib"],
    });
  });
});

describe("parseListFile", () => {
  it("reads one-line sources and leaves out comments and source packages", () => {
    const text = `# deb http://no.example/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://one.example/debian bookworm main contrib # local
deb-src http://two.example/debian bookworm main
deb http://three.example/apt ./
`;
    expect(parseListFile(text)).toEqual([
      {
        uri: "http://one.example/debian",
        suites: ["bookworm"],
        components: ["main", "contrib"],
        signedBy: "/k.gpg",
      },
      { uri: "http://three.example/apt", suites: ["./"], components: [], signedBy: "" },
    ]);
  });
});

describe("findDebianMirror", () => {
  it("picks the source of the release itself, not that of its security updates", () => {
    const sources = parseSourcesFile(DEBIAN).toReversed();
    expect(findDebianMirror(sources, "bookworm")).toBe("https://mirror.example/debian/");
  });

  it("prefers Debian's own to another maker's with the same suite name", () => {
    const sources = parseListFile(`deb https://db.example/repo/debian bookworm main
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian bookworm main
`);
    expect(findDebianMirror(sources, "bookworm")).toBe("http://mirror.example/debian");
  });

  it("finds none where there is none", () => {
    const sources = parseListFile("deb http://archive.example/ubuntu noble main universe");
    expect(findDebianMirror(sources, "noble-x")).toBeUndefined();
  });
});
