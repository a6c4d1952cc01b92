// Applies a unified diff exactly or not at all. The library's own `applyPatch` looks for another place if the stated one does not fit,
// and converts line endings; and its parser skips what it does not understand. So only its parser is used, and its result is checked.

import { parsePatch, type StructuredPatch, type StructuredPatchHunk } from 'diff'
import { ServerError } from '../../domain/errors.ts'
import { visibleCode } from '../../domain/text/visible-text.ts'
import { linesOf } from './unified-diff.ts'

interface Patch {
  creates: boolean
  deletes: boolean
  hunks: readonly StructuredPatchHunk[]
}

const DEV_NULL = '/dev/null'
/** Lines that may stand before the file headers. All others mean something that we do not do: renames, modes, binary data. */
const PREAMBLE =
  /^(?:diff (?!--cc|--combined)\S.*|index [0-9a-f]+\.\.[0-9a-f]+(?: 100(?:644|755))?|new file mode 100644|deleted file mode 100(?:644|755))\r?$/
const MAX_QUOTE = 120

export const isPatch = (text: string): boolean => text.startsWith('--- ') || text.startsWith('diff ')

/** Throws `invalid_diff` unless the text is a patch of exactly one file, one of `names`, and nothing else. */
export function readPatch(text: string, names: readonly string[]): Patch {
  const lines = text.split('\n')
  const headers = lines.findIndex((line) => line.startsWith('--- '))
  const preamble = headers === -1 ? lines : lines.slice(0, headers)
  const odd = preamble.find((line) => !PREAMBLE.test(line))
  if (odd !== undefined && odd !== '') {
    throw invalid(`It says "${quoted(odd)}". Renames, modes, links and binary data cannot be approved as a diff`)
  }
  if (headers === -1 || odd !== undefined) throw invalid('The lines "--- a/file" and "+++ b/file" are missing')
  const files = parsed(text)
  const [file] = files
  if (file === undefined || files.length > 1)
    throw invalid(`It changes ${files.length} files. Ask for one file at a time`)
  if (file.hunks.length === 0) throw invalid('It has no "@@" part, so it changes nothing')
  const length = file.hunks.reduce((sum, hunk) => sum + 1 + hunk.lines.length, headers + 2)
  const rest = lines.slice(length).find((line) => line.trim() !== '')
  if (rest !== undefined) throw invalid(`It contains lines that belong to no "@@" part, such as "${quoted(rest)}"`)
  checkNames(file, names)
  return { creates: file.oldFileName === DEV_NULL, deletes: file.newFileName === DEV_NULL, hunks: file.hunks }
}

function parsed(text: string): StructuredPatch[] {
  try {
    return parsePatch(text)
  } catch (error) {
    const line = /at line (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
    if (line === undefined) throw invalid('The lines "--- a/file" and "+++ b/file" are not a pair')
    throw invalid(`The "@@" part at its line ${line} does not have as many lines as it says`)
  }
}

function checkNames({ oldFileName = '', newFileName = '' }: StructuredPatch, names: readonly string[]): void {
  const isNamed = (name: string, prefix: string): boolean => names.some((one) => name === one || name === prefix + one)
  const fits = (name: string, prefix: string): boolean => name === DEV_NULL || isNamed(name, prefix)
  if (oldFileName === DEV_NULL && newFileName === DEV_NULL) throw invalid('Both of its headers are /dev/null')
  for (const [name, prefix] of [
    [oldFileName, 'a/'],
    [newFileName, 'b/'],
  ] as const) {
    if (!fits(name, prefix))
      throw invalid(`It is for "${quoted(name)}", but the request names "${quoted(names[0] ?? '')}"`)
  }
}

/** Throws `patch_conflict` unless every hunk fits at its stated line, and every line of it to the last character. */
export function applyPatch(before: string, patch: Patch, path: string): string {
  const lines = linesOf(before)
  const after: string[] = []
  let at = 0
  for (const hunk of patch.hunks) {
    const start = hunk.oldStart - 1
    if (!Number.isInteger(start) || start < at) throw invalid('Its "@@" parts overlap, or are not in order')
    if (start > lines.length)
      throw conflict(path, `it has ${lines.length} lines, but a part begins at line ${start + 1}`)
    // A diff without context may also begin like this. It could then land in a file that the agent never saw.
    if (start === 0 && hunk.oldLines === 0 && lines.length > 0) throw conflict(path, 'the patch says that it is empty')
    for (; at < start; at += 1) after.push(lines[at] ?? '')
    for (const { operation, text } of hunkLines(hunk)) {
      if (operation === '+') {
        after.push(text)
        continue
      }
      const line = lines[at]
      if (line !== text) throw mismatch(path, at, line, text)
      if (operation === ' ') after.push(line)
      at += 1
    }
  }
  for (; at < lines.length; at += 1) after.push(lines[at] ?? '')
  if (after.slice(0, -1).some((line) => !line.endsWith('\n'))) {
    throw invalid('It says "No newline at end of file" about a line that is not the last')
  }
  return after.join('')
}

/** The lines of a hunk with their line breaks. */
function hunkLines({ lines }: StructuredPatchHunk): { operation: string; text: string }[] {
  return lines.flatMap((line, i) => {
    if (line.startsWith('\\')) return []
    const ending = lines[i + 1]?.startsWith('\\') ? '' : '\n'
    // Many programs cut the one space of an empty context line.
    return [{ operation: line[0] ?? ' ', text: line.slice(1) + ending }]
  })
}

function mismatch(path: string, at: number, line: string | undefined, wanted: string): ServerError {
  const number = at + 1
  if (line === undefined) return conflict(path, `it ends before line ${number}`)
  if (line.replace(/\r?\n$/, '') === wanted.replace(/\r?\n$/, '')) {
    const [is, should] = [endingOf(line), endingOf(wanted)]
    return conflict(path, `line ${number} ends with ${is}, but the patch says ${should}`)
  }
  return conflict(path, `line ${number} is "${quoted(line)}", but the patch says "${quoted(wanted)}"`)
}

const endingOf = (line: string): string =>
  line.endsWith('\r\n') ? 'CRLF' : line.endsWith('\n') ? 'LF' : 'no line break'

const quoted = (text: string): string => {
  const line = text.replace(/\r?\n$/, '')
  return visibleCode([line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}…` : line]).join('')
}

const invalid = (why: string): ServerError => new ServerError('invalid_diff', `The diff cannot be used. ${why}.`)

const conflict = (path: string, why: string): ServerError =>
  new ServerError('patch_conflict', `The diff does not fit ${path}: ${why}. Read the file again and make a new diff.`)
