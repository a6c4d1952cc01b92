/** The address of a proxy (`host:3128` means http), or null. It may contain a password, so never show it whole. */
export function proxyAddress(text: string): URL | null {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : null
}
