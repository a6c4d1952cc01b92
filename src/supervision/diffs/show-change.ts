import { shownPath } from '../../domain/text/lookalike.ts'
import { visibleCode } from '../../domain/text/visible-text.ts'
import type { ProposedChange } from './propose-change.ts'

export interface ShownDiff {
  text: string
  /** Lines that are not shown, or not to their end. 0: the person has seen everything. */
  hiddenLines: number
}

export interface ShowLimits {
  maxLines?: number
  /** Characters of each line. */
  maxLineChars?: number
}

/**
 * The diff for people. Characters that nobody would see are written as `<U+202E>`. Whatever a limit cuts is counted in the text. Without
 * limits everything is shown.
 */
export function shownDiff(
  { path, diff }: Pick<ProposedChange, 'path' | 'diff'>,
  { maxLines = Number.POSITIVE_INFINITY, maxLineChars = Number.POSITIVE_INFINITY }: ShowLimits = {},
): ShownDiff {
  const lines = withoutUniformReturns(diff.replace(/\n$/, '').split('\n'))
  const [all, most] = [lines.length, Math.max(0, maxLines)]
  let hiddenLines = Math.max(0, all - most)
  const starts = lines.slice(2, Math.min(all, most)).map((line) => line.slice(0, maxLineChars).toWellFormed())
  const content = visibleCode(starts).map((start, i) => {
    const left = (lines[i + 2]?.length ?? 0) - maxLineChars
    if (left <= 0) return start
    hiddenLines += 1
    return `${start} … ${count(left, 'character')} of this line not shown`
  })
  const headers = lines.slice(0, Math.min(2, most)).map((line) => line.replace(path, () => shownPath(path)))
  const shown = [...headers, ...content]
  if (all > most) shown.push(`… ${count(all - most, 'line')} not shown`)
  return { text: shown.join('\n'), hiddenLines }
}

const count = (n: number, thing: string): string => `${n.toLocaleString('en')} ${thing}${n === 1 ? '' : 's'}`

/** In a file with CRLF every line ends with a carriage return, which the warnings say. Only a line that differs must show it. */
function withoutUniformReturns(lines: string[]): string[] {
  const isContent = (line: string, i: number): boolean => i > 1 && /^[ +-]/.test(line)
  const endsFile = (i: number): boolean => lines[i + 1]?.startsWith('\\') === true
  const isUniform = lines.every((line, i) => !isContent(line, i) || line.endsWith('\r') || endsFile(i))
  return isUniform
    ? lines.map((line, i) => (isContent(line, i) && !endsFile(i) ? line.replace(/\r$/, '') : line))
    : lines
}
