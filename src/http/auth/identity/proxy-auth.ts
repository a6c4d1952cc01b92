// A proxy in front of this server that has signed people in, and says in headers who they are. Only its own connections count: everybody
// can send such headers.

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { ServerError } from '../../../domain/errors.ts'
import type { ProxyAuthSettings } from '../../../domain/settings/identity-settings.ts'
import { remoteUser } from '../../../domain/supervision/user-name.ts'
import { countHeader } from '../../server/target.ts'
import { createRoleOf, type Identity, invalidToken, type ListedOperators } from './identity.ts'

/**
 * Whom the proxy names. Null: the request is not from the proxy, or it names nobody. Throws `invalid_request` where it is not clear who is
 * meant, `unauthorized` for a name that cannot be used, and `forbidden` for people who have no role here.
 */
export type ProxyAuth = (request: Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'socket'>) => Identity | null

const MOST_GROUPS = 500
const GROUP = /^[^\p{C}]{1,200}$/u

export function createProxyAuth(
  { name, trusted, headers, roles }: ProxyAuthSettings,
  listed: ListedOperators,
): ProxyAuth {
  const isTrusted = createAddressCheck(trusted)
  const roleOf = createRoleOf(roles, listed)

  return (request) => {
    if (!isTrusted(request.socket.remoteAddress)) return null
    const sent = onlyValue(request, headers.user)
    if (sent === null) return null
    const user = remoteUser(name, sent)
    if (user === null) {
      throw invalidToken('unusable_name', `The proxy sent a name in ${headers.user} that this server cannot use.`)
    }
    const groups = groupsOf(readable(onlyValue(request, headers.groups) ?? ''))
    const email = readable(onlyValue(request, headers.email) ?? '').slice(0, 254) || null
    // Only browsers send it, and no page can leave it out.
    const isBrowser = request.headers['sec-fetch-site'] !== undefined
    const endsAt = Number.POSITIVE_INFINITY
    return { user, ...roleOf(user, groups), groups, email, source: 'proxy', isBrowser, endsAt }
  }
}

/** A header that comes twice: the proxy set one of them, and a stranger the other. Nobody can say which. */
function onlyValue(request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>, name: string): string | null {
  const count = countHeader(request, name)
  if (count > 1) {
    throw new ServerError(
      'invalid_request',
      `The header ${name} came ${count} times. The proxy must replace it, not add to it.`,
    )
  }
  const value = request.headers[name]
  // Only these: the last byte of a letter may look like another kind of space.
  const text = typeof value === 'string' ? value.replace(/^[ \t]+|[ \t]+$/g, '') : ''
  return text === '' ? null : text
}

/** Node reads a header as one letter for each byte, but proxies send UTF-8. */
function readable(header: string): string {
  const bytes = Buffer.from(header, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : header
}

function groupsOf(text: string): string[] {
  const groups = text.split(',', MOST_GROUPS).map((group) => group.trim())
  return [...new Set(groups.filter((group) => GROUP.test(group)))]
}

function createAddressCheck(trusted: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList()
  for (const network of trusted) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (given) => {
    // `fe80::1%eth0`, and `::ffff:10.0.0.1` for a connection over IPv4 to a socket of IPv6.
    const address = (given ?? '').replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
    const family = isIP(address)
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
  }
}
