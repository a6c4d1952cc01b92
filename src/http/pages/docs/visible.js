// Shows text so that a person sees every character. The rules are those of `src/domain/text/visible-text.ts`, which a page cannot load. A
// test compares the two character by character.

const UNSEEN =
  '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}' +
  '\\u2800\\u{1d159}\\u{13441}\\u{13442}\\u{16fe4}'
const HIDDEN = new RegExp(`(\\p{RGI_Emoji})|[[${UNSEEN}][\\p{Zs}--[ ]]]|(?<=\\p{M}{6})\\p{M}| {40,}`, 'gv')

/**
 * One line, with hidden characters as JSON escapes.
 * @param {string} line
 */
export function visibleLine(line) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return line.replace(HIDDEN, (found, emoji) => emoji ?? found.split('').map(escaped).join(''))
}

/**
 * The same for text with several lines. The indentation of JSON does not count as hidden characters.
 * @param {string} text
 */
export const visibleLines = (text) =>
  text
    .split(/\r?\n/)
    .map((line) => {
      const [indent] = /^ */.exec(line) ?? ['']
      return indent + visibleLine(line.slice(indent.length))
    })
    .join('\n')
