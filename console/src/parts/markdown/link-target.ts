/** Where a link leads, if it may lead there at all. */
export interface LinkTarget {
  href: string
  /** The address as people read it: whole, or cut with `…` after its host. */
  shown: string
  host: string
}

const ALLOWED: ReadonlySet<string> = new Set(['https:', 'http:', 'mailto:'])
const LONGEST_SHOWN = 60

/**
 * Null: this is not an address that a person should be sent to. Scripts, files and addresses of this server are out, and so is
 * `https://bank.com@evil.com`, which reads like another one. The browser writes foreign letters in a host as `xn--…`.
 */
export function linkTarget(address: string): LinkTarget | null {
  const url = URL.parse(address.trim())
  if (url === null || !ALLOWED.has(url.protocol) || url.username !== '' || url.password !== '') return null
  if (url.protocol === 'mailto:') return { href: url.href, host: '', shown: short(url.pathname, '') }
  const scheme = url.protocol === 'https:' ? '' : 'http://'
  const path = `${url.pathname}${url.search}${url.hash}`
  return { href: url.href, host: url.host, shown: short(scheme + url.host, path === '/' ? '' : path) }
}

/** The host is never cut: it is what one looks at. */
function short(host: string, path: string): string {
  const room = Math.max(12, LONGEST_SHOWN - host.length)
  return host + (path.length <= room ? path : `${path.slice(0, room - 1)}…`)
}

const LIKE_AN_ADDRESS = /^(?:https?:\/\/)?(?:www\.)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?:[:/?#]|$)/iu

/** How the text of a link stands to its address: it says the same, something else (`docs`), or it names another place (a trap). */
export function compareLinkText(text: string, target: LinkTarget): 'same' | 'words' | 'elsewhere' {
  const plain = text.trim()
  const bare = (address: string) => address.replace(/^(?:https?:\/\/|mailto:)/i, '').replace(/\/$/, '')
  if (bare(plain) === bare(target.href)) return 'same'
  const named = LIKE_AN_ADDRESS.exec(plain)?.[1]?.toLowerCase()
  if (named === undefined) return 'words'
  return named === target.host.replace(/^www\./, '').replace(/:\d+$/, '') ? 'words' : 'elsewhere'
}
