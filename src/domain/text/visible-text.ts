// Makes characters visible that a person does not see, or that change how others look. Everything that shows a call to the person
// who decides about it uses this: what is shown must be what runs.

/**
 * Control and format characters, lone surrogates, separators, everything that fonts do not draw, noncharacters, and the blanks of
 * Braille, musical notation, hieroglyphs and the Khitan script. Private use is drawn as each font likes, or not at all.
 */
const UNSEEN =
  '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}' +
  '\\u2800\\u{1d159}\\u{13441}\\u{13442}\\u{16fe4}'
/**
 * Also every space except the usual one, and every mark after the sixth on one letter: a pile of marks covers the lines around it.
 * Emoji that Unicode defines as a whole (`RGI_Emoji`) stay as they are, with the characters that join them. A joiner or a variation
 * selector anywhere else is marked: without it the text would look the same.
 */
const HIDDEN = `[[${UNSEEN}][\\p{Zs}--[ ]]]|(?<=\\p{M}{6})\\p{M}| {40,}`
const HIDDEN_OR_EMOJI = `(\\p{RGI_Emoji})|${HIDDEN}`
/** A `<` of the text itself that looks like the beginning of a mark. */
const LIKE_A_MARK = '<(?=U\\+)'
// Created on first use: compiling thousands of emoji takes tens of milliseconds, which every start would pay for.
const hiddenOrEmoji = madeOnce(() => new RegExp(HIDDEN_OR_EMOJI, 'gv'))
const hiddenInText = madeOnce(() => new RegExp(`${HIDDEN_OR_EMOJI}|${LIKE_A_MARK}|\\\\`, 'gv'))
const hiddenInCode = madeOnce(() => new RegExp(`${HIDDEN_OR_EMOJI}|${LIKE_A_MARK}`, 'gv'))
/** The first group never matches. */
const hiddenInLongCode = madeOnce(() => new RegExp(`([])|${HIDDEN}|${LIKE_A_MARK}`, 'gv'))
/** Most text needs no closer look. */
const LOOK_TWICE = /[^ -[\]-~]| {40}|<U\+/
const LOOK_TWICE_AT_CODE = /[^\t -~]| {40}|<U\+/
const MARKED_IN_CODE = new RegExp(`[[${UNSEEN}\\p{Zs}]--[\\t ]]|\\p{M}{7}| {40}|<U\\+`, 'v')
/**
 * UNSEEN without the characters that hide nothing: line breaks, tabs, the two marks that choose how an emoji is drawn, and private use,
 * which fonts with icons draw.
 */
const SUSPICIOUS = new RegExp(`[[${UNSEEN}]--[\\t\\n\\r\\ufe0e\\ufe0f\\p{Co}]]`, 'v')
/** For all texts of a call together. Finding the emoji of a mark takes time, so beyond this limit every mark counts as hidden. */
const MAX_LOOKED_AT = 100_000
/** Hidden characters that prose needs. A lone surrogate may be half of a character whose other half is in the next piece. */
const OF_PROSE = /^[\t\n\p{Zs}\p{Cs}]/v
/** Joiners of languages and emoji, and what chooses how an emoji is drawn. After these characters they do nothing. */
const JOINS = /^(?:[\u200c\u200d]|[\ufe0e\ufe0f])/
const NOT_JOINED = /^[\p{ASCII}\u200c\u200d]/v

function madeOnce<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** How a hidden character is written everywhere: `<U+202E>`, and `<U+0020×57>` for 57 spaces in a row. */
export function hiddenMark(found: string): string {
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return found[0] === ' ' && found.length > 1 ? `<U+${code}×${found.length}>` : `<U+${code}>`
}

/**
 * The text as one line in which every character is visible: `\n`, `\t`, and `<U+202E>` for what is hidden. A backslash in the text is
 * written twice, and a `<` that begins such a mark in the text itself is written as a mark, so that two different texts never look the
 * same. So show a text once: what has been shown already goes through `visibleProse`.
 */
export function visibleText(text: string): string {
  if (!LOOK_TWICE.test(text)) return text
  return text.replace(hiddenInText(), (found, emoji: string | undefined) => {
    if (emoji !== undefined) return emoji
    if (found === '\\') return '\\\\'
    if (found === '\n') return '\\n'
    if (found === '\t') return '\\t'
    return hiddenMark(found)
  })
}

/** JSON text in which every character is visible. It is still JSON with the same value, so it has JSON's own escapes: `\u202e`. */
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

/**
 * Like `visibleText`, for prose: keeps line breaks and the characters that languages and emoji need. Works on pieces, and leaves marks
 * as they are, so that text which has been shown already stays the same.
 */
export function visibleProse(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(hiddenOrEmoji(), (found, emoji: string | undefined, at: number, all: string) => {
      if (emoji !== undefined || found[0] === ' ' || OF_PROSE.test(found)) return found
      return JOINS.test(found) && !NOT_JOINED.test(all[at - 1] ?? '') ? found : hiddenMark(found)
    })
}

/**
 * Like `visibleText`, for lines of source code: tabs and backslashes stay, so that the text looks like the code that it is. Finding emoji
 * takes time: after the first 100,000 characters that need it, their joiners are marked too.
 */
export const visibleCode = (lines: readonly string[]): string[] => markedLines(lines).lines

/** Like `visibleCode`, and counts the marks of hidden characters. A row of spaces is one. */
export function markedLines(lines: readonly string[]): { lines: string[]; marks: number } {
  let lookedAt = 0
  let marks = 0
  const marked = lines.map((line) => {
    if (!LOOK_TWICE_AT_CODE.test(line) || !MARKED_IN_CODE.test(line)) return line
    lookedAt += line.length
    const pattern = lookedAt > MAX_LOOKED_AT ? hiddenInLongCode() : hiddenInCode()
    return line.replace(pattern, (found, emoji: string | undefined) => {
      if (emoji !== undefined || found === '\t') return found
      if (found !== '<') marks += 1
      return hiddenMark(found)
    })
  })
  return { lines: marked, marks }
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
