// Which addresses a request may go to when a model or a redirect can influence it. Pure. The caller must connect to exactly the
// address that was checked.

import { BlockList, isIP } from 'node:net'

/** Whether this is an IP address of the public internet. False for anything else, and for addresses with a zone. */
export function isPublicAddress(ip: string): boolean {
  if (ip.includes('%')) return false
  switch (isIP(ip)) {
    case 4:
      return !RESERVED_V4.check(ip, 'ipv4')
    case 6:
      // Only global unicast can be public. This excludes loopback, link-local, unique local, multicast, and the forms that hide
      // an IPv4 address (mapped, compatible, NAT64).
      return GLOBAL_UNICAST.check(ip, 'ipv6') && !RESERVED_V6.check(ip, 'ipv6')
    default:
      return false
  }
}

/** Whether the URL alone shows that the host is not public. Then the mistake is reported at the start, not at the first call. */
export function isPrivateHost({ hostname }: URL): boolean {
  const name = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (isIP(name) !== 0) return !isPublicAddress(name)
  return name === 'localhost' || name.endsWith('.localhost')
}

export const privateHostProblem = (url: URL): string =>
  `${url.host} is on this machine or in a private network. Write allow_private: true if the tool may call it.`

const GLOBAL_UNICAST = subnets('ipv6', ['2000::/3'])

// IANA's special-purpose registries, and what clouds reserve for themselves.
const RESERVED_V4 = subnets('ipv4', [
  '0.0.0.0/8', // this network; Linux takes 0.0.0.0 for loopback
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; Alibaba's metadata
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's platform, reachable from every machine there
  '169.254.0.0/16', // link-local; the metadata service of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; Oracle's metadata
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
])

const RESERVED_V6 = subnets('ipv6', [
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: hides an IPv4 address
  '3fff::/20', // documentation
])

function subnets(family: 'ipv4' | 'ipv6', list: readonly string[]): BlockList {
  const result = new BlockList()
  for (const subnet of list) {
    const [network = '', bits] = subnet.split('/')
    result.addSubnet(network, Number(bits), family)
  }
  return result
}
