// Settings of a tool as a person may read them before a call: as the file says them, with secrets masked.

import { isRecord } from '../domain/is-record.ts'
import { decoded } from '../domain/text/decoded.ts'
import { looksSecret, MASKED } from '../domain/text/secret-name.ts'

/**
 * A text of the part of the settings that approvals are bound to (`bound`), with each secret masked. Null: the settings were made
 * in code, or hold no text here.
 */
export function writtenText(bound: unknown): string | null {
  if (typeof bound === 'string') return bound
  if (!isRecord(bound) || !Array.isArray(bound.text)) return null
  return bound.text.map((part: unknown) => (typeof part === 'string' ? part : MASKED)).join('')
}

/** The member of `bound` with this name. */
export const boundPart = (bound: unknown, name: string): unknown =>
  isRecord(bound) && Object.hasOwn(bound, name) ? bound[name] : undefined

/** The address with the values of parameters masked whose names look secret, and without a password. */
export function shownUrl(url: URL): string {
  const query = url.search
    .slice(1)
    .split('&')
    .map((pair) => {
      const [name = ''] = pair.split('=', 1)
      return pair.includes('=') && looksSecret(decoded(name)) ? `${name}=${MASKED}` : pair
    })
    .join('&')
  const user = url.username === '' && url.password === '' ? '' : `${MASKED}@`
  return `${url.protocol}//${user}${url.host}${url.pathname}${query === '' ? '' : `?${query}`}`
}

/** A command line. The value of an argument whose name looks secret is masked. */
export function shownCommand(command: string, args: readonly string[]): string {
  const shown = args.map((arg, i) => {
    const [flag = ''] = arg.split('=', 1)
    if (flag.startsWith('-') && arg.includes('=')) return looksSecret(flag) ? `${flag}=${MASKED}` : arg
    const before = args[i - 1] ?? ''
    return before.startsWith('-') && !before.includes('=') && !arg.startsWith('-') && looksSecret(before) ? MASKED : arg
  })
  return [command, ...shown].map((word) => (/^[\w@%+=:,./[\]-]+$/.test(word) ? word : JSON.stringify(word))).join(' ')
}

/** Null where the masked text is not an address any more, for example because a secret is part of the host. Then nothing is shown. */
export function parsedOrNull<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch {
    return null
  }
}
