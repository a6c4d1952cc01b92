import { MASKED } from './secret-name.ts'

/** Replaces secrets in text that leaves the process: the given ones, and everything that looks like a key. */
type Mask = (text: string) => string

/** Masking shorter secrets would hide ordinary words. */
const MIN_SECRET = 6
// Every branch is a fixed prefix and one class of characters, so the search is linear.
const KEY =
  /\b(?:[spr]k-[\w-]{8,}|qd_[\w-]{8,}|AIza[\w-]{20,}|AKIA[A-Z0-9]{12,}|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|gh[a-z]_\w{16,}|github_pat_\w{16,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)/g
const CREDENTIAL = /\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi
const LINK_KEY = /([?&]key=)[\w.%~-]{16,}/g
const LINK_TOKEN = /([?&]token=)[^\s&#"'<>]+/g
const USER_INFO = /:\/\/[^\s/@"']{1,256}@/g

export function createMask(secrets: readonly string[]): Mask {
  const spellings = new Set<string>()
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET) continue
    spellings.add(secret)
    spellings.add(encodeURIComponent(secret.toWellFormed()))
    spellings.add(JSON.stringify(secret).slice(1, -1))
    spellings.add(Buffer.from(secret).toString('base64'))
  }
  // Longest first, so that a secret that contains another one is masked completely.
  const known = [...spellings].sort((a, b) => b.length - a.length)
  return (text) => {
    let masked = text
    for (const secret of known) if (masked.includes(secret)) masked = masked.replaceAll(secret, MASKED)
    return masked
      .replace(KEY, MASKED)
      .replace(LINK_KEY, `$1${MASKED}`)
      .replace(LINK_TOKEN, `$1${MASKED}`)
      .replace(CREDENTIAL, `$1 ${MASKED}`)
      .replace(USER_INFO, `://${MASKED}@`)
  }
}
