import { visibleProse } from '../../domain/visible-text.ts'

/**
 * Text that a model, a tool or a server chose, made safe to print: control characters could move the cursor, retitle the
 * window or forge a line, and marks that turn the direction of writing could show a person another command than the one they allow.
 * They are shown as what they are. Tabs and line breaks stay. Works on pieces: no sequence survives the loss of its ESC.
 */
export const terminalText = visibleProse

/** The same on one line, cut to `width` characters. */
export function terminalLine(text: string, width: number): string {
  const line = terminalText(text).replace(/\s+/g, ' ').trim()
  const characters = Array.from(line)
  return characters.length > width ? `${characters.slice(0, Math.max(width - 1, 0)).join('')}…` : line
}
