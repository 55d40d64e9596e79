/**
 * The IPv4 blocks that hold no public servers: the IANA special-purpose registry, multicast and class E. ADR 0027
 */
export const SPECIAL_IPV4_BLOCKS = [
  "0.0.0.0/8", // this network, RFC 791
  "10.0.0.0/8", // private, RFC 1918
  "100.64.0.0/10", // shared by carriers, RFC 6598
  "127.0.0.0/8", // loopback, RFC 1122
  "169.254.0.0/16", // link-local, with clouds' metadata services, RFC 3927
  "172.16.0.0/12", // private, RFC 1918
  "192.0.0.0/24", // protocol assignments, RFC 6890
  "192.0.2.0/24", // documentation, RFC 5737
  "192.31.196.0/24", // AS112, RFC 7535
  "192.52.193.0/24", // AMT, RFC 7450
  "192.88.99.0/24", // 6to4 relays, RFC 7526
  "192.168.0.0/16", // private, RFC 1918
  "192.175.48.0/24", // AS112, RFC 7534
  "198.18.0.0/15", // benchmarks, RFC 2544
  "198.51.100.0/24", // documentation, RFC 5737
  "203.0.113.0/24", // documentation, RFC 5737
  "224.0.0.0/4", // multicast, RFC 5771
  "240.0.0.0/4", // reserved, and 255.255.255.255, RFC 1112
] as const;

/**
 * The public IPv4 blocks where a cloud's own platform answers its customers' machines. They hold no public servers.
 * ADR 0027
 */
export const PLATFORM_IPV4_BLOCKS = [
  "67.207.67.2/31", // DigitalOcean: the resolvers of its images
  "161.26.0.0/16", // IBM Cloud: resolvers, NTP and mirrors; VPC docs, "Endpoints available"
  "166.8.0.0/14", // IBM Cloud: private endpoints of its services; the same page
  "168.63.129.16/32", // Azure: wire server, DNS, DHCP; "What is IP address 168.63.129.16?"
  "183.60.82.98/32", // Tencent Cloud: the resolver of its images
  "183.60.83.19/32", // Tencent Cloud: the other one
  "185.12.64.1/32", // Hetzner: the resolver of its images; Cloud docs, "Static IP configuration"
  "185.12.64.2/32", // Hetzner: the other one; the same page
  "192.80.8.124/32", // Equinix Metal, once Packet: metadata.packet.net
  "199.36.153.4/30", // Google Cloud: restricted.googleapis.com; "Configure Private Google Access"
  "199.36.153.8/30", // Google Cloud: private.googleapis.com; the same page
] as const;

/** The IPv6 blocks of clouds' own platforms, inside `2000::/3`. ADR 0027 */
export const PLATFORM_IPV6_BLOCKS = [
  "2600:2d00:2:1000::/64", // Google Cloud: restricted.googleapis.com; "Configure Private Google Access"
  "2600:2d00:2:2000::/64", // Google Cloud: private.googleapis.com; the same page
  "2a01:4ff:ff00::add:1/128", // Hetzner: the resolver of its images; Cloud docs, "Static IP configuration"
  "2a01:4ff:ff00::add:2/128", // Hetzner: the other one; the same page
] as const;

/** The IPv6 block that all global unicast addresses are assigned from. RFC 4291 */
export const GLOBAL_IPV6_BLOCK = "2000::/3";

/** The IPv6 blocks inside `2000::/3` that hold no public servers. */
export const SPECIAL_IPV6_BLOCKS = [
  "2001::/23", // protocol assignments: ORCHID, benchmarks, AMT, AS112, RFC 2928
  "2001:db8::/32", // documentation, RFC 3849
  "2620:4f:8000::/48", // AS112, RFC 7534
  "3ffe::/16", // the 6bone, returned to IANA, RFC 3701
  "3fff::/20", // documentation, RFC 9637
] as const;

/**
 * The IPv6 blocks with an embedded IPv4 address, which is checked instead. ISATAP has no block: it allows any prefix.
 */
export const EMBEDDING_IPV6_BLOCKS = {
  mapped: "::ffff:0:0/96", // RFC 4291
  nat64: "64:ff9b::/96", // RFC 6052; the local-use 64:ff9b:1::/48 is not global and refused
  sixToFour: "2002::/16", // RFC 3056
  teredo: "2001::/32", // RFC 4380
} as const;
