const MAX_CHARS = 120
/** A longer one is no extension but part of the name. */
const MAX_EXTENSION_CHARS = 12

/** What cannot be seen, or changes how what is around it is seen: controls, direction marks, zero-width characters. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu

/** What browsers call content that has no name. */
const NO_NAME = 'blob'

/**
 * A file's name as people are shown it: the last part of a path, in one line, without what cannot be seen, at most 120
 * characters; null when nothing is left that names it. It is a label: no path is ever made of it.
 */
export function safeName(text: string | null): string | null {
  const [base = ''] = (text ?? '').split(/[/\\]/).slice(-1)
  const visible = base.replaceAll(/[\t-\r\p{Z}]/gu, ' ').replaceAll(INVISIBLE, '')
  const line = visible.normalize('NFC').replaceAll(/ +/g, ' ').trim()
  return /^\.*$/.test(line) || line === NO_NAME ? null : shortened([...line])
}

function shortened(chars: readonly string[]): string {
  if (chars.length <= MAX_CHARS) return chars.join('')
  const dot = chars.lastIndexOf('.')
  const extension = dot > 0 && chars.length - dot <= MAX_EXTENSION_CHARS ? chars.slice(dot) : []
  return (
    chars
      .slice(0, MAX_CHARS - extension.length)
      .join('')
      .trimEnd() + extension.join('')
  )
}
