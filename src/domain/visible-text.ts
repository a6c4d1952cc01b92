// Makes characters visible that a person does not see, or that change how others look. Everything that shows a call to the person
// who decides about it uses this: what is shown must be what runs.

/**
 * Control and format characters, lone surrogates, separators, everything that fonts do not draw, noncharacters, and the blanks of
 * Braille, musical notation, hieroglyphs and the Khitan script.
 */
const UNSEEN =
  '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}' +
  '\\u2800\\u{1d159}\\u{13441}\\u{13442}\\u{16fe4}'
/**
 * Also every space except the usual one, and every mark after the sixth on one letter: a pile of marks covers the lines around it.
 * Emoji that Unicode defines as a whole (`RGI_Emoji`) stay as they are, with the characters that join them.
 */
const HIDDEN = `[[${UNSEEN}][\\p{Zs}--[ ]]]|(?<=\\p{M}{6})\\p{M}| {40,}`
const HIDDEN_OR_EMOJI = `(\\p{RGI_Emoji})|${HIDDEN}`
// Created on first use: compiling thousands of emoji takes tens of milliseconds, which every start would pay for.
const hiddenOrEmoji = madeOnce(() => new RegExp(HIDDEN_OR_EMOJI, 'gv'))
const hiddenEmojiOrBackslash = madeOnce(() => new RegExp(`${HIDDEN_OR_EMOJI}|\\\\`, 'gv'))
const hiddenEmojiOrMark = madeOnce(() => new RegExp(`${HIDDEN_OR_EMOJI}|<(?=U\\+)`, 'gv'))
/** The first group never matches. */
const hiddenOrMark = madeOnce(() => new RegExp(`([])|${HIDDEN}|<(?=U\\+)`, 'gv'))
/** Most text needs no closer look. */
const LOOK_TWICE = /[^ -[\]-~]| {40}/
const LOOK_TWICE_AT_CODE = /[^\t -~]| {40}|<U\+/
const MARKED_IN_CODE = new RegExp(`[[${UNSEEN}\\p{Zs}]--[\\t ]]|\\p{M}{7}| {40}|<U\\+`, 'v')
/** UNSEEN without the characters that hide nothing: line breaks, tabs, and the two marks that choose how an emoji is drawn. */
const SUSPICIOUS = new RegExp(`[[${UNSEEN}]--[\\t\\n\\r\\ufe0e\\ufe0f]]`, 'v')
/** For all texts of a call together. Finding the emoji of a mark takes time, so beyond this limit every mark counts as hidden. */
const MAX_LOOKED_AT = 100_000
/** Invisible characters that prose needs in some language. */
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
 * The text as one line in which every character is visible: `\n`, `\t`, `\u{202e}`, and `\u{20×57}` for 57 spaces in a row. A
 * backslash in the text is written twice, so that two different texts never look the same.
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

/** Like `visibleText`, for JSON text: the result is JSON with the same value. */
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

/** Like `visibleText`, for prose: keeps line breaks and the characters that languages and emoji need. Works on pieces. */
export function visibleProse(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(hiddenOrEmoji(), (found, emoji: string | undefined) =>
      emoji !== undefined || found[0] === ' ' || OF_PROSE.test(found) ? found : `\\u{${codeOf(found)}}`,
    )
}

/**
 * Like `visibleText`, for lines of source code: `<U+202E>`, and `<U+0020×57>` for 57 spaces in a row. Tabs and backslashes stay, so that
 * the text looks like the code that it is. A `<` that begins such a mark in the code itself is written as a mark, so that two different
 * texts never look the same. Finding emoji takes time: after the first 100,000 characters that need it, their joiners are marked too.
 */
export function visibleCode(lines: readonly string[]): string[] {
  let lookedAt = 0
  return lines.map((line) => {
    if (!LOOK_TWICE_AT_CODE.test(line) || !MARKED_IN_CODE.test(line)) return line
    lookedAt += line.length
    const pattern = lookedAt > MAX_LOOKED_AT ? hiddenOrMark() : hiddenEmojiOrMark()
    return line.replace(pattern, (found, emoji: string | undefined) => {
      if (emoji !== undefined || found === '\t') return found
      const code = codeOf(found).toUpperCase().padStart(4, '0')
      return found.length > 1 && found[0] === ' ' ? `<U+0020×${found.length}>` : `<U+${code}>`
    })
  })
}

/** Whether any text in `value`, at any depth and including names, contains a character that a person would overlook. */
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
