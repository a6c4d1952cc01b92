// Characters that a person does not see, or that change how the ones around them are seen, made visible. Whatever shows a call
// to somebody who decides about it goes through here: what is shown must be what runs.

/**
 * Controls, formats, lone surrogates, separators, everything that fonts leave out, what is no character, and the blanks of
 * Braille, of musical notes, of hieroglyphs and of the Khitan script.
 */
const UNSEEN =
  '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}' +
  '\\u2800\\u{1d159}\\u{13441}\\u{13442}\\u{16fe4}'
/**
 * With every space but the usual one, and the seventh mark upon a letter: a pile of them covers the lines around it. Emoji that
 * Unicode knows as a whole (`RGI_Emoji`) are seen as what they are, with the marks that join them.
 */
const HIDDEN_OR_EMOJI = `(\\p{RGI_Emoji})|[[${UNSEEN}][\\p{Zs}--[ ]]]|(?<=\\p{M}{6})\\p{M}| {40,}`
// Made when the first text needs one: thousands of emoji take tens of milliseconds, which every start would pay.
const hiddenOrEmoji = madeOnce(() => new RegExp(HIDDEN_OR_EMOJI, 'gv'))
const hiddenEmojiOrBackslash = madeOnce(() => new RegExp(`${HIDDEN_OR_EMOJI}|\\\\`, 'gv'))
/** Most text has nothing to look at twice. */
const LOOK_TWICE = /[^ -[\]-~]| {40}/
/** The same without what hides nothing: line breaks, tabs, spaces, and the two marks that choose how an emoji is drawn. */
const SUSPICIOUS = new RegExp(`[[${UNSEEN}]--[\\t\\n\\r\\ufe0e\\ufe0f]]`, 'v')
/** Of all texts of a call. Finding the emoji that a mark belongs to takes time, so beyond this every mark counts as hidden. */
const MAX_LOOKED_AT = 100_000
/** What prose of any language is written with. */
const OF_PROSE = /^[\t\n\p{Zs}\p{Cs}\u200c\u200d\ufe0e\ufe0f]/v

function madeOnce<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

const codeOf = (char: string): string => (char.codePointAt(0) ?? 0).toString(16)

/**
 * One line in which every character is seen: `\n`, `\t`, `\u{202e}`, and `\u{20×57}` for 57 spaces in a row. A backslash of
 * the text itself is written twice, so that two texts never look the same.
 */
export function visibleText(text: string): string {
  if (!LOOK_TWICE.test(text)) return text
  return text.replace(hiddenEmojiOrBackslash(), (found, emoji: string | undefined) => {
    if (emoji !== undefined) return emoji
    if (found === '\\') return '\\\\'
    if (found === '\n') return '\\n'
    if (found === '\t') return '\\t'
    return found[0] === ' ' ? `\\u{20×${found.length}}` : `\\u{${codeOf(found)}}`
  })
}

/** The same for JSON: it stays JSON, and of the same value. */
export function visibleJson(json: string): string {
  if (!LOOK_TWICE.test(json)) return json
  return json.replace(hiddenOrEmoji(), (found, emoji: string | undefined) => {
    if (emoji !== undefined) return emoji
    return found
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('')
  })
}

/** The same for prose: lines stay lines, and what languages and emoji are written with stays. Works on pieces. */
export function visibleProse(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(hiddenOrEmoji(), (found, emoji: string | undefined) =>
      emoji !== undefined || found[0] === ' ' || OF_PROSE.test(found) ? found : `\\u{${codeOf(found)}}`,
    )
}

/** Whether a text in `value`, at any depth and names included, has a character that is there to be overlooked. */
export function hidesCharacters(value: unknown): boolean {
  const left = [value]
  let lookedAt = 0
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === 'string') {
      if (!SUSPICIOUS.test(next)) continue
      lookedAt += next.length
      if (lookedAt > MAX_LOOKED_AT || hides(next)) return true
    } else if (typeof next === 'object' && next !== null) {
      for (const [name, inner] of Object.entries(next)) left.push(name, inner)
    }
  }
  return false
}

function hides(text: string): boolean {
  for (const [found, emoji] of text.matchAll(hiddenOrEmoji())) {
    if (emoji === undefined && SUSPICIOUS.test(found)) return true
  }
  return false
}
