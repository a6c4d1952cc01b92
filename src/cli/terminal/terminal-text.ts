import { hiddenMark, visibleProse, visibleText } from '../../domain/text/visible-text.ts'
import type { Io, OutputStream } from './io.ts'

/**
 * Makes text from a model, a tool or a server safe to print. Control characters could move the cursor, change the window's title or fake
 * a line; marks that change the direction of writing could show a person a different command from the one they allow. Such characters
 * are written out. Tabs and line breaks stay. Works on text in pieces: without its ESC, the rest of a sequence is harmless.
 */
export const terminalText = visibleProse

/** Since Unicode 15. Terminals with older tables (tmux 3.3) leave them out without a trace; JavaScript cannot ask for a version. */
const NEWER =
  '\\u088f-\\u0897\\u0c5c\\u0cdc\\u0cf3\\u0ece\\u1acf-\\u1aeb\\u1b4e\\u1b4f\\u1b7f\\u1c89\\u1c8a\\u20c1\\u2427-\\u2429\\u2b96' +
  '\\u2ffc-\\u2fff\\u31e4-\\u31ef\\ua7cb-\\ua7cf\\ua7d2\\ua7d4\\ua7da-\\ua7f1\\ufbc3-\\ufbd2\\ufd90\\ufd91\\ufdc8-\\ufdce' +
  '\\u{105c0}-\\u{105f3}\\u{10940}-\\u{10959}\\u{10d40}-\\u{10d8f}\\u{10ec2}-\\u{10eff}\\u{1123f}-\\u{11241}\\u{11380}-\\u{113e2}' +
  '\\u{116d0}-\\u{116e3}\\u{11b00}-\\u{11bf9}\\u{11db0}-\\u{11de9}\\u{11f00}-\\u{11f5a}\\u{1342f}-\\u{143fa}\\u{16100}-\\u{16139}' +
  '\\u{16d40}-\\u{16d79}\\u{16ea0}-\\u{16ed3}\\u{16ff2}-\\u{16ff6}\\u{187f8}-\\u{187ff}\\u{18cff}\\u{18d09}-\\u{18df2}\\u{1b132}' +
  '\\u{1b155}\\u{1cc00}-\\u{1cef0}\\u{1d2c0}-\\u{1d2d3}\\u{1df25}-\\u{1df2a}\\u{1e030}-\\u{1e08f}\\u{1e4d0}-\\u{1e6ff}' +
  '\\u{1f6d8}-\\u{1f6dc}\\u{1f774}-\\u{1f77f}\\u{1f7d9}\\u{1f8b2}-\\u{1f8d8}\\u{1fa54}-\\u{1fa57}\\u{1fa75}-\\u{1fa77}' +
  '\\u{1fa87}-\\u{1fa8f}\\u{1faad}-\\u{1faaf}\\u{1fabb}-\\u{1fabf}\\u{1fac6}-\\u{1facf}\\u{1fada}-\\u{1fadf}\\u{1fae8}-\\u{1faef}' +
  '\\u{1faf7}\\u{1faf8}\\u{1fbcb}-\\u{1fbef}\\u{1fbfa}\\u{2b739}-\\u{2b73f}\\u{2cea2}-\\u{2cead}\\u{2ebf0}-\\u{2ee5d}' +
  '\\u{31350}-\\u{33479}'
/** Takes no cell of its own. */
const ADDED = '[\\p{Mn}\\p{Me}\\u200c\\u200d]'
/**
 * What a terminal may leave out: a mark at the start of a line has nothing to stand on; xterm keeps two marks to a letter, and tmux 18
 * bytes, which is less than a family of emoji; characters that its tables do not know.
 */
const NOT_DRAWN = new RegExp(
  `^\\p{M}|[\\p{Cn}${NEWER}\\u{e0020}-\\u{e007f}]|\\u200d(?=\\p{Extended_Pictographic})|(?<=${ADDED}{2})${ADDED}`,
  'gmv',
)

/** Writes out what some terminals do not draw. For text that a person decides about, as whole lines; more than once does no harm. */
export const drawn = (text: string): string => text.replace(NOT_DRAWN, hiddenMark)

/** Prose that a person decides about, whole. */
export const exactText = (text: string): string => drawn(terminalText(text))

/** A value that a person decides about, on one line in which everything is visible. */
export const exactValue = (text: string): string => drawn(visibleText(text))

/** The same, on one line of at most `width` characters. */
export function terminalLine(text: string, width: number): string {
  const line = exactText(text).replace(/\s+/g, ' ').trim()
  const characters = Array.from(line)
  return characters.length > width ? `${characters.slice(0, Math.max(width - 1, 0)).join('')}…` : line
}

/** The zone of the person at the terminal. Lists and cards say it once. */
export const localZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** `2026-11-15 09:04:10` on the clock of the person at the terminal. Programs get UTC: what `--json` prints never passes here. */
export function localTime(at: string | number, timeZone: string = localZone()): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return '?'
  // The Swedish way to write a time is that of ISO 8601.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(date)
}

/** The same, without seconds. */
export const localMinute = (at: string | number): string => localTime(at).slice(0, 16)

/** Goes back to the start of the line, and empties it. */
export const CLEAR_LINE = '\r\x1b[2K'

/** Whether a line can be drawn over. In a pipe, a dumb terminal or CI it would fill the log. */
export const canRedraw = (stream: OutputStream, env: Io['env']): boolean =>
  stream.isTTY === true && env.TERM !== 'dumb' && !env.CI

export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return `${[head, ...rows].map(line).join('\n')}\n`
}

/** `1 session`, `2 sessions`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/** `7 kB`, `1.3 MB`. */
export const sizeText = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
