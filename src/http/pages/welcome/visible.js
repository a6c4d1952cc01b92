// Shows what would run so that a person sees every character. The rules are those of `src/domain/visible-text.ts`, which a page cannot
// load. A test compares the two character by character.

const UNSEEN =
  '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\p{Noncharacter_Code_Point}' +
  '\\u2800\\u{1d159}\\u{13441}\\u{13442}\\u{16fe4}'
const HIDDEN = `[[${UNSEEN}][\\p{Zs}--[ ]]]|(?<=\\p{M}{6})\\p{M}| {40,}`
const HIDDEN_IN_TEXT = new RegExp(`(\\p{RGI_Emoji})|${HIDDEN}|<(?=U\\+)|\\\\`, 'gv')
const HIDDEN_IN_JSON = new RegExp(`(\\p{RGI_Emoji})|${HIDDEN}`, 'gv')

const NAMED = { '\\': '\\\\', '\n': '\\n', '\t': '\\t' }

/** @param {string} text */
export function visibleText(text) {
  return text.replace(HIDDEN_IN_TEXT, (found, emoji) => {
    if (emoji !== undefined) return emoji
    if (NAMED[found] !== undefined) return NAMED[found]
    const code = found.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')
    return found.length > 1 && found[0] === ' ' ? `<U+${code}×${found.length}>` : `<U+${code}>`
  })
}

/** @param {string} json */
export function visibleJson(json) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return json.replace(HIDDEN_IN_JSON, (found, emoji) => emoji ?? found.split('').map(escaped).join(''))
}

/**
 * All arguments of a call: name and value of each. A text with several lines is shown with several lines, each ending in `\n`. A text is
 * quoted if it looks like a number or a list, or begins or ends with a space.
 * @param {Record<string, unknown>} args
 * @returns {[name: string, value: string][]}
 */
export function shownArguments(args) {
  return Object.entries(args).map(([name, value]) => [visibleText(name), shownValue(value)])
}

function shownValue(value) {
  if (typeof value !== 'string') return visibleJson(JSON.stringify(value))
  const lines = (shown) => value.split('\n').map(shown).join('\\n\n')
  return needsQuotes(value)
    ? `"${lines((line) => visibleJson(JSON.stringify(line)).slice(1, -1))}"`
    : lines(visibleText)
}

function needsQuotes(text) {
  if (text === '' || text !== text.trim()) return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
