/** The address of a proxy, `host:3128` being short for http; null for what is none. Never shown whole: it may hold a password. */
export function proxyAddress(text: string): URL | null {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : null
}
