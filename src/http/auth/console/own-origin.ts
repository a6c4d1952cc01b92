// The server as a browser sees it: the origin of its own pages, and whether passkeys work there.

import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { ServerError } from '../../../domain/errors.ts'
import { isLoopback } from '../../../domain/is-loopback.ts'
import { isEncrypted } from '../../server/target.ts'

type Asked = Pick<IncomingMessage, 'headers' | 'socket'>

/** Where a browser opened the console. */
export interface ConsolePlace {
  origin: string
  /** The host name that a passkey is bound to. */
  rpId: string
  /** Null: passkeys work there. Otherwise what a person can do about it. */
  whyNot: string | null
}

const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

/**
 * The origins that pages of this server can have. A proxy in front of us may speak TLS with the browser and plain HTTP with us, so both
 * schemes count there. The host has passed the guard.
 */
function ownOrigins({ headers, socket }: Asked, publicUrl: string | null): string[] {
  const host = headers.host?.toLowerCase() ?? ''
  const schemes = isEncrypted(socket) ? ['https'] : ['http', 'https']
  return [...schemes.map((scheme) => `${scheme}://${host}`), ...(publicUrl === null ? [] : [new URL(publicUrl).origin])]
}

/**
 * A console token, or the cookie of a proxy, is only for pages of this server: not for other pages of this machine, which the guard lets
 * through. Programs that are not a browser send neither header. Throws `origin_not_allowed`.
 */
export function refuseForeignPage(request: Asked, publicUrl: string | null): void {
  const { origin, 'sec-fetch-site': site } = request.headers
  const isOwn = origin === undefined || ownOrigins(request, publicUrl).includes(origin.toLowerCase())
  if (isOwn && (site === undefined || site === 'same-origin')) return
  throw new ServerError(
    'origin_not_allowed',
    'The console signs in and works only from pages of this server itself. Other pages use a token of quarterdeck tokens.',
  )
}

/** `publicUrl`: where people open the server, if the settings say so. */
export function consolePlace(request: Asked, publicUrl: string | null): ConsolePlace {
  const { headers, socket } = request
  const host = headers.host?.toLowerCase() ?? 'localhost'
  const named = publicUrl === null ? null : new URL(publicUrl)
  const guess = named?.host === host ? named.origin : `${isEncrypted(socket) ? 'https' : 'http'}://${host}`
  const sent = headers.origin?.toLowerCase()
  const origin = sent !== undefined && ownOrigins(request, publicUrl).includes(sent) ? sent : guess
  // A Host may name a port that does not exist.
  const url = URL.parse(origin) ?? new URL('http://localhost')
  const rpId = bare(url.hostname)
  const isNamed = origin === named?.origin
  return { origin, rpId, whyNot: whyNot(rpId, url) ?? (isNamed ? null : whyNotHere(rpId, url, socket)) }
}

/**
 * A passkey of `localhost` works on every port, and only the origin that we expect tells our page from the page of an agent. So a Host
 * that the guard did not compare with our port cannot choose it: on the local socket, without a Host, or with a wide `allowed_hosts`.
 */
function whyNotHere(name: string, { origin, protocol, port }: URL, { localPort }: Asked['socket']): string | null {
  const isOurPort = Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port) === localPort
  if (localPort !== undefined && (isOurPort || !isLoopback(name))) return null
  return `Passkeys do not work there: this server does not know that it is reached at ${origin}. If it is, set public_url in quarterdeck.yaml to it.`
}

function whyNot(name: string, { protocol, port }: URL): string | null {
  const local = `${protocol}//localhost${port === '' ? '' : `:${port}`}/console`
  if (isIP(name) !== 0) {
    return isLoopback(name)
      ? `Browsers have no passkeys for an IP address. Open ${local} instead.`
      : 'Browsers have no passkeys for an IP address. Open the console by a name and over TLS: see public_url in quarterdeck.yaml.'
  }
  if (protocol === 'https:' || isLoopback(name)) return null
  return 'Browsers have passkeys only over TLS. Use --tls-cert and --tls-key, or a proxy with TLS and public_url in quarterdeck.yaml.'
}
