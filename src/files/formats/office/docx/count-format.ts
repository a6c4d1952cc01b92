// Numbers in the formats of Word's lists: 3 may be written as c, III or 03.

/** `format` is Word's name of the format. Unknown formats give digits. */
export function formatCount(count: number, format: string): string {
  switch (format) {
    case 'decimalZero':
      return String(count).padStart(2, '0')
    case 'lowerLetter':
      return letters(count)
    case 'upperLetter':
      return letters(count).toUpperCase()
    case 'lowerRoman':
      return roman(count)
    case 'upperRoman':
      return roman(count).toUpperCase()
    case 'none':
    case 'bullet':
      return ''
    default:
      return String(count)
  }
}

/** After z comes aa, then bb. A hostile file can start a list at any number, so a label of more than 30 letters is written in digits. */
function letters(count: number): string {
  if (count < 1 || count > 780) return String(count)
  return String.fromCharCode(97 + ((count - 1) % 26)).repeat(Math.ceil(count / 26))
}

const romans: readonly (readonly [number, string])[] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
]

function roman(count: number): string {
  if (count < 1 || count > 3999) return String(count)
  let left = count
  let text = ''
  for (const [value, digits] of romans) {
    text += digits.repeat(Math.floor(left / value))
    left %= value
  }
  return text
}
