import { visibleProse } from '../../domain/visible-text.ts'

/**
 * Makes text from a model, a tool or a server safe to print. Control characters could move the cursor, change the window's title or fake
 * a line; marks that change the direction of writing could show a person a different command from the one they allow. Such characters
 * are written out. Tabs and line breaks stay. Works on text in pieces: without its ESC, the rest of a sequence is harmless.
 */
export const terminalText = visibleProse

/** The same, on one line of at most `width` characters. */
export function terminalLine(text: string, width: number): string {
  const line = terminalText(text).replace(/\s+/g, ' ').trim()
  const characters = Array.from(line)
  return characters.length > width ? `${characters.slice(0, Math.max(width - 1, 0)).join('')}…` : line
}
