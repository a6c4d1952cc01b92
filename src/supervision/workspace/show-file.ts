import { hasCode, ServerError } from '../../domain/errors.ts'
import { secretText } from '../../domain/text/secret-file.ts'
import { visibleCode, visibleText } from '../../domain/text/visible-text.ts'
import { BYTE_ORDER_MARK, decodeFile } from '../diffs/file-text.ts'
import { confine, refuseMoved } from './confine.ts'
import { readWorkspaceFile, type WorkspaceFile } from './read-workspace-file.ts'
import { refuseSecret } from './secret-path.ts'

/** Lines are counted from 1. Both ends belong to it; without `to` it goes to the end of the file. */
export interface LineRange {
  from: number
  to: number | null
}

export interface ShownLines {
  /** The lines of the range, as `visibleCode` shows them. */
  lines: string[]
  /** The first and the last line that are shown. An empty file has 1 and 0. */
  from: number
  to: number
  totalLines: number
  /** At least one character is shown as a mark, such as `<U+202E>`. */
  hasMarks: boolean
  /** Lines of the range that are not shown because there is too much of it. */
  leftOut: number
}

interface ShownFile extends ShownLines {
  /** Relative to the workspace, where the file really is. */
  path: string
  /** Of the whole file. */
  bytes: number
  /** SHA-256 of the whole file, in hex. */
  sha256: string
}

/** Of what is shown. A chat takes no more. */
const MAX_SHOWN_BYTES = 500_000
const MAX_LINE_CHARS = 10_000

/**
 * Shows a file of a workspace, or some lines of it. `root` is the workspace's real path. Throws `path_violation` for a path that leaves the
 * workspace or names no ordinary file, `file_not_found`, `forbidden` for a file that usually holds secrets, `file_unreadable` for one that
 * is not text, `file_too_large` and `invalid_request` for a range that the file does not have.
 */
export async function showFile(root: string, path: string, range: LineRange | null = null): Promise<ShownFile> {
  if (range !== null) checkRange(range)
  const place = await confine(root, path)
  refuseMoved(root, place.root)
  refuseSecret(place.path, path)
  const shownPath = visibleText(place.path)
  const file = await readWorkspaceFile(place).catch((error: unknown) => {
    throw isRefusedChange(error)
      ? new ServerError('file_too_large', `${shownPath} is larger than 5 MB, so it is not shown here.`)
      : error
  })
  if (file === null) throw new ServerError('file_not_found', `There is no file "${shownPath}" in the workspace.`)
  const shown = cutOut(textOf(file, shownPath), range ?? { from: 1, to: null }, shownPath)
  return { path: place.path, ...shown, bytes: file.bytes.length, sha256: file.hash }
}

/** The same for a text of that file which the server has itself. Throws `forbidden` and `invalid_request`. */
export function showLines(path: string, text: string, range: LineRange): ShownLines {
  checkRange(range)
  refuseSecret(path, path)
  return cutOut(text, range, visibleText(path))
}

function checkRange({ from, to }: LineRange): void {
  const isCount = (n: number): boolean => Number.isSafeInteger(n) && n >= 1
  if (isCount(from) && (to === null || (isCount(to) && to >= from))) return
  throw new ServerError('invalid_request', 'Lines are counted from 1, and the first is not behind the last: 10:20.')
}

/** Reading for a change and for a look is the same, but the reasons for a no are worded for changes. */
const isRefusedChange = (error: unknown): boolean => hasCode(error, 'invalid_diff')

function textOf({ bytes }: WorkspaceFile, shownPath: string): string {
  try {
    return decodeFile(bytes, shownPath).text
  } catch (error) {
    if (!isRefusedChange(error)) throw error
    throw new ServerError(
      'file_unreadable',
      `${shownPath} is not shown here: it is not UTF-8 or UTF-16 text, or it has more than 500,000 lines.`,
      { cause: error },
    )
  }
}

function cutOut(text: string, { from, to }: LineRange, shownPath: string): ShownLines {
  const secret = secretText(text)
  if (secret !== null) throw new ServerError('forbidden', `${shownPath} is not shown here. ${secret}`)
  const all = (text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text).split(/\r?\n/)
  // What ends with a line break has no line after it.
  if (all.at(-1) === '') all.pop()
  const totalLines = all.length
  if (from > Math.max(totalLines, 1)) {
    const count = totalLines === 1 ? '1 line' : `${totalLines} lines`
    throw new ServerError('invalid_request', `${shownPath} has only ${count}.`)
  }
  const asked = all.slice(from - 1, to ?? totalLines)
  const raw = asked.slice(0, fittingLines(asked)).map((line) => line.slice(0, MAX_LINE_CHARS))
  // Marks make a line longer.
  const marked = visibleCode(raw)
  const lines = marked.slice(0, fittingLines(marked))
  return {
    lines: lines.map((line, i) => withRest(line, (asked[i]?.length ?? 0) - MAX_LINE_CHARS)),
    from,
    to: from + lines.length - 1,
    totalLines,
    hasMarks: lines.some((line, i) => line !== raw[i]),
    leftOut: asked.length - lines.length,
  }
}

/** How many of the lines may be shown together. The first one always may. */
function fittingLines(lines: readonly string[]): number {
  let bytes = 0
  for (const [i, line] of lines.entries()) {
    bytes += Buffer.byteLength(line) + 1
    if (bytes > MAX_SHOWN_BYTES) return Math.max(i, 1)
  }
  return lines.length
}

const withRest = (line: string, more: number): string => (more > 0 ? `${line} … ${more} more characters` : line)
