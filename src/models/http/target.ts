/** Where a request goes, from its address. */
export interface Target {
  secure: boolean
  /** Without the brackets of IPv6. */
  host: string
  port: number
  /** What all requests have in common that may share a connection. */
  key: string
  path: string
  hostHeader: string
  /** From the user and the password in the address. */
  authorization: string | null
}

/** Throws for what is no http: or https: address. */
export function readTarget(address: string): Target {
  const url = new URL(address)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError(`${url.protocol} is not spoken here`)
  const secure = url.protocol === 'https:'
  const user = `${decoded(url.username)}:${decoded(url.password)}`
  return {
    secure,
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    key: url.origin,
    path: `${url.pathname}${url.search}`,
    hostHeader: url.host,
    authorization: user === ':' ? null : `Basic ${Buffer.from(user).toString('base64')}`,
  }
}

/** A password with a bare % is meant as it is written. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
