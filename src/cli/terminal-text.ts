/**
 * Text that a model, a tool or a server chose, made safe to print: control characters could move the cursor, retitle the
 * window or forge a line, and marks that turn the direction of writing could show a person another command than the one they allow.
 * Tabs and line breaks stay. Works on pieces: no sequence survives the loss of its ESC.
 */
export function terminalText(text: string): string {
  return text.replace(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu, '')
}

/** The same on one line, cut to `width` characters. */
export function terminalLine(text: string, width: number): string {
  const line = terminalText(text).replace(/\s+/g, ' ').trim()
  const characters = Array.from(line)
  return characters.length > width ? `${characters.slice(0, Math.max(width - 1, 0)).join('')}…` : line
}
