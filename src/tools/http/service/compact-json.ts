/** JSON without the whitespace between its tokens. Null when the text is not JSON. Numbers keep all their digits. */
export function compactJson(text: string): string | null {
  try {
    JSON.parse(text)
  } catch {
    return null
  }
  // The parsed value is not printed: an id of 19 digits would change.
  let result = ''
  let position = 0
  while (position < text.length) {
    const quote = text.indexOf('"', position)
    if (quote === -1) break
    const end = endOfString(text, quote)
    result += text.slice(position, quote).replace(/\s+/g, '') + text.slice(quote, end)
    position = end
  }
  return result + text.slice(position).replace(/\s+/g, '')
}

function endOfString(text: string, quote: number): number {
  let position = quote + 1
  while (position < text.length && text[position] !== '"') position += text[position] === '\\' ? 2 : 1
  return position + 1
}
