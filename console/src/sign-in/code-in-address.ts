/** What a link to sign in carries behind its `#`. */
export interface AddressCode {
  code: string
  /** Whoever made the link wants that the device stays signed in. */
  keep: boolean
}

/** Null: there is none. Browsers do not send what is behind `#` to any server. */
export function codeIn(hash: string): AddressCode | null {
  const found = new URLSearchParams(hash.replace(/^#/, ''))
  const code = found.get('code')
  return code === null ? null : { code, keep: found.has('keep') }
}

/** The code leaves the address at once, so that it stays neither in the history nor on the screen. */
export function takeCode(): AddressCode | null {
  const found = codeIn(location.hash)
  if (found !== null) history.replaceState(history.state, '', location.pathname + location.search)
  return found
}
