// What an agent asks to write becomes a change that the server computed itself: the exact bytes before and after, and the diff between
// them. What a person sees is this diff, never the agent's text.

import { join } from 'node:path'
import { ServerError } from '../../domain/errors.ts'
import type { ChangeSummary } from '../../domain/records/record.ts'
import { shownPath } from '../../domain/text/lookalike.ts'
import { hidesCharacters } from '../../domain/text/visible-text.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import { type ConfinedPath, confine } from '../workspace/confine.ts'
import { createServerPlaces, protectedChange } from '../workspace/protected-path.ts'
import {
  MAX_FILE_BYTES,
  readWorkspaceFile,
  sha256OfBytes,
  tooLarge,
  type WorkspaceFile,
} from '../workspace/read-workspace-file.ts'
import { applyPatch, isPatch, readPatch } from './apply-patch.ts'
import { BYTE_ORDER_MARK, decodeFile, decodeText, encodeFile, type FileText } from './file-text.ts'
import { linesOf, type UnifiedDiff, unifiedDiff } from './unified-diff.ts'

/** What is written, and what an approval is bound to. */
export interface FileChange {
  /** Relative to the workspace, with `/`. */
  path: string
  kind: 'create' | 'modify' | 'delete'
  /** SHA-256 in hex, or `new_file`. */
  beforeHash: string
  /** SHA-256 in hex, or `deleted`. */
  afterHash: string
  /** Null for a deletion. */
  after: Uint8Array | null
}

export interface ProposedChange extends FileChange {
  /** Unified diff from before to after, with file headers. */
  diff: string
  addedLines: number
  removedLines: number
  /** Sentences for the person who decides. */
  warnings: string[]
  /** The least risk that this change has, whatever the agent says. */
  risk: 'low' | 'critical'
  /** Why only a person may decide about this file. */
  protectedBecause: string | null
  hasHiddenText: boolean
  isBinary: boolean
}

export interface ChangeRequest {
  workspaceRoot: string
  /** As the agent wrote it. */
  filePath: string
  /** A patch if it begins with `--- ` or `diff `, otherwise the whole new text of the file. */
  diff: string
  /** See `createServerPlaces`. */
  serverPaths?: readonly string[]
}

/** Throws `path_violation`, `invalid_diff` or `patch_conflict`. Writes nothing. */
export async function proposeChange(request: ChangeRequest): Promise<ProposedChange> {
  const { diff, filePath } = request
  if (Buffer.byteLength(diff) > MAX_FILE_BYTES) throw tooLarge('The diff')
  const place = await confine(request.workspaceRoot, filePath)
  const file = await readWorkspaceFile(place)
  const before = file === null ? null : decodeFile(file.bytes, place.path)
  const { after, isEmptied } = isPatch(diff)
    ? patched(diff, before, place, filePath)
    : { after: replaced(diff, before), isEmptied: false }
  const bytes = after === null ? null : encodeFile(after, place.path)
  const change = changeOf(request, { place, file, before, after, bytes, isEmptied })
  if (change === null) throw nothingChanges(place.path)
  return change
}

/** A change to exactly these bytes, or null to no file. They need not be text. */
export interface BytesRequest extends Omit<ChangeRequest, 'diff'> {
  bytes: Uint8Array | null
}

/** The same for bytes. Null: the file is like this already. Throws `path_violation`, and `invalid_diff` for what is too large. */
export async function proposeBytes(request: BytesRequest): Promise<ProposedChange | null> {
  const { bytes, filePath } = request
  if (bytes !== null && bytes.length > MAX_FILE_BYTES) throw tooLarge(filePath)
  const place = await confine(request.workspaceRoot, filePath)
  const file = await readWorkspaceFile(place)
  const before = file === null ? null : (decodeText(file.bytes, place.path) ?? BINARY)
  const after = bytes === null ? null : (decodeText(bytes, place.path) ?? BINARY)
  return changeOf(request, { place, file, before, after, bytes, isEmptied: false })
}

/** Stands for the text of a file that has none. */
const BINARY = 'binary'
type Content = FileText | typeof BINARY | null

interface Proposed {
  place: ConfinedPath
  file: WorkspaceFile | null
  before: Content
  after: Content
  bytes: Uint8Array | null
  isEmptied: boolean
}

/** Null: nothing changes. */
function changeOf(
  request: Omit<ChangeRequest, 'diff'>,
  { place, file, before, after, bytes, isEmptied }: Proposed,
): ProposedChange | null {
  const beforeHash = file?.hash ?? 'new_file'
  const afterHash = bytes === null ? 'deleted' : sha256OfBytes(bytes)
  if (beforeHash === afterHash || (file === null && bytes === null)) return null
  const kind = bytes === null ? 'delete' : file === null ? 'create' : 'modify'
  const isBinary = before === BINARY || after === BINARY
  const [was, is] = [before === BINARY ? null : before, after === BINARY ? null : after]
  const computed = isBinary ? null : diffOf(was, is)
  const binary = isBinary ? binaryWords(file, bytes, { beforeHash, afterHash }) : []
  const protectedBecause = reasonToProtect(request, place, textToJudge(before), textToJudge(after))
  const hasHiddenText = linesHideText(computed?.added ?? []) || shownPath(place.path) !== place.path
  return {
    path: place.path,
    kind,
    beforeHash,
    afterHash,
    after: bytes,
    diff: withHeaders(place.path, kind, computed?.hunks ?? `${binary.join('\n')}\n`),
    addedLines: computed?.addedLines ?? 0,
    removedLines: computed?.removedLines ?? 0,
    warnings:
      computed === null ? binaryWarnings(file) : warningsOf({ file, before: was, after: is, computed, isEmptied }),
    risk: protectedBecause !== null || hasHiddenText ? 'critical' : 'low',
    protectedBecause,
    hasHiddenText,
    isBinary,
  }
}

/** A package.json that is not text may say anything. */
const textToJudge = (content: Content): string | null => (content === BINARY ? '' : (content?.text ?? null))

function binaryWords(
  file: WorkspaceFile | null,
  bytes: Uint8Array | null,
  { beforeHash, afterHash }: Pick<FileChange, 'beforeHash' | 'afterHash'>,
): string[] {
  const words = (length: number, hash: string) => `Binary file, ${length.toLocaleString('en')} bytes (SHA-256 ${hash})`
  return [
    ...(file === null ? [] : [`-${words(file.bytes.length, beforeHash)}`]),
    ...(bytes === null ? [] : [`+${words(bytes.length, afterHash)}`]),
  ]
}

const binaryWarnings = (file: WorkspaceFile | null): string[] => [
  'The file is not text, so nobody sees here what is in it.',
  ...ofFile(file).flatMap(([applies, text]) => (applies ? [text] : [])),
]

interface Patched {
  after: FileText | null
  /** The patch does not say that it deletes the file, but nothing remains of it. */
  isEmptied: boolean
}

function patched(diff: string, before: FileText | null, place: ConfinedPath, filePath: string): Patched {
  const written = filePath.split('/').filter((part) => part !== '' && part !== '.')
  const patch = readPatch(diff, [...new Set([written.join('/'), place.path])])
  if (patch.creates && before !== null) {
    const message = `The diff creates ${place.path}, but this file exists. Read it and make a new diff.`
    throw new ServerError('patch_conflict', message)
  }
  if (patch.deletes && before === null) {
    throw new ServerError('patch_conflict', `The diff deletes ${place.path}, but this file does not exist.`)
  }
  const { encoding, text } = before ?? { encoding: 'UTF-8' as const, text: '' }
  // Most programs do not show the byte order mark to an agent, so a patch that does not mention it keeps it.
  const mark = text.startsWith(BYTE_ORDER_MARK) && !diff.includes(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
  const result = applyPatch(text.slice(mark.length), patch, place.path)
  if (result !== '') {
    if (patch.deletes) {
      const message = `The diff deletes ${place.path}, but does not remove all of its lines.`
      throw new ServerError('patch_conflict', message)
    }
    return { after: { encoding, text: mark + result }, isEmptied: false }
  }
  if (before === null) throw nothingChanges(place.path)
  return { after: null, isEmptied: !patch.deletes }
}

function replaced(text: string, before: FileText | null): FileText {
  if (before === null) return { encoding: 'UTF-8', text }
  const keepsMark = before.text.startsWith(BYTE_ORDER_MARK) && !text.startsWith(BYTE_ORDER_MARK)
  return { encoding: before.encoding, text: keepsMark ? BYTE_ORDER_MARK + text : text }
}

const nothingChanges = (path: string): ServerError =>
  new ServerError('invalid_diff', `The diff changes nothing: ${path} is already like this.`)

/** The byte order mark is left out, unless it is all that changes: the warnings tell about it. */
function diffOf(before: FileText | null, after: FileText | null): UnifiedDiff {
  const [old, now] = [withoutMark(before), withoutMark(after)]
  return old === now && before !== null && after !== null ? unifiedDiff(before.text, after.text) : unifiedDiff(old, now)
}

const withoutMark = (file: FileText | null): string => (file?.text ?? '').replace(BYTE_ORDER_MARK_AT_START, '')

const BYTE_ORDER_MARK_AT_START = /^\ufeff/

/** What is shown of it without its text. */
export const summaryOf = (change: ProposedChange): ChangeSummary => {
  const { path, kind, addedLines, removedLines, warnings, protectedBecause, hasHiddenText } = change
  return { path, kind, addedLines, removedLines, warnings, protectedBecause, hasHiddenText }
}

export function withHeaders(path: string, kind: FileChange['kind'], hunks: string): string {
  const old = kind === 'create' ? '/dev/null' : `a/${path}`
  const now = kind === 'delete' ? '/dev/null' : `b/${path}`
  return `--- ${old}\n+++ ${now}\n${hunks}`
}

function reasonToProtect(
  { serverPaths = [] }: Pick<ChangeRequest, 'serverPaths'>,
  { root, path }: ConfinedPath,
  before: string | null,
  after: string | null,
): string | null {
  const reason = createServerPlaces(serverPaths)(join(root, path), 'write')
  return reason ?? protectedChange(path, before, after)
}

interface Facts {
  file: WorkspaceFile | null
  before: FileText | null
  after: FileText | null
  computed: UnifiedDiff
  isEmptied: boolean
}

function warningsOf({ file, before, after, computed, isEmptied }: Facts): string[] {
  const [was, is] = [before?.text ?? '', after?.text ?? '']
  const [oldMark, newMark] = [was.startsWith(BYTE_ORDER_MARK), is.startsWith(BYTE_ORDER_MARK)]
  const [oldEndings, newEndings] = [endingsOf(was), endingsOf(is)]
  const goesOn = before !== null && after !== null
  const all: [boolean, string][] = [
    [isEmptied, 'This empties the file, so it deletes it.'],
    [goesOn && is.replace(BYTE_ORDER_MARK, '') === '', 'This empties the file. The empty file stays.'],
    [before === null && is === '', 'The new file is empty.'],
    [goesOn && before.encoding !== 'UTF-8', `The file is ${before?.encoding} and stays so.`],
    [goesOn && oldMark && newMark && before.encoding === 'UTF-8', 'The file keeps its byte order mark.'],
    [after !== null && !oldMark && newMark, 'A byte order mark is added at the start of the file.'],
    [goesOn && oldMark && !newMark, 'The byte order mark at the start of the file goes away.'],
    [
      oldEndings !== null && newEndings !== null && oldEndings !== newEndings,
      `Line endings change from ${oldEndings} to ${newEndings}.`,
    ],
    [
      newEndings !== null && newEndings !== 'LF' && (oldEndings ?? newEndings) === newEndings,
      `Line endings: ${newEndings}.`,
    ],
    [is !== '' && !is.endsWith('\n') && (was === '' || was.endsWith('\n')), 'No newline at the end of the file.'],
    [goesOn && ((file?.mode ?? 0) & 0o111) !== 0, 'The file stays executable.'],
    ...ofFile(file),
    [
      computed.isRough,
      'The two versions differ too much to compare every line, so the diff shows whole parts as replaced.',
    ],
  ]
  return all.flatMap(([applies, text]) => (applies ? [text] : []))
}

const ofFile = (file: WorkspaceFile | null): [boolean, string][] => [
  [(file?.links ?? 1) > 1, 'The file has other names (hard links). They keep the old content.'],
]

/** Null if there is no line break. */
function endingsOf(text: string): 'LF' | 'CRLF' | 'LF and CRLF mixed' | null {
  const lines = linesOf(text).filter((line) => line.endsWith('\n'))
  const crlf = lines.filter((line) => line.endsWith('\r\n')).length
  if (lines.length === 0) return null
  return crlf === 0 ? 'LF' : crlf === lines.length ? 'CRLF' : 'LF and CRLF mixed'
}

/** Code is indented, so only what no editor shows at once counts as padding. */
const PADDING = / {200}|\t{60}/
/** A carriage return inside a line: a terminal then writes over what came before it. */
const OVERWRITE = /\r(?!\n?$)/

/** Whether added lines hide something: characters that fonts do not draw, overwritten text, or text moved out of sight by spaces. */
const linesHideText = (lines: readonly string[]): boolean =>
  lines.some((line) => PADDING.test(line) || OVERWRITE.test(line)) || hidesCharacters(lines)

/** What an approval of a diff is bound to: this file, from exactly these bytes to exactly those. */
export const changeDigest = ({ path, kind, beforeHash, afterHash }: Omit<FileChange, 'after'>): string =>
  sha256(canonicalJson(['file_change', path, kind, beforeHash, afterHash]))

/**
 * An operator writes something else than the agent proposed. `diff` is the operator's: a patch of the file as it is on disk, or its whole
 * new text. It becomes a change of its own, with another digest. `difference`: from the agent's text to the operator's, for the agent.
 * Throws as `proposeChange` does.
 */
export async function editedChange(
  stored: FileChange,
  { diff, workspaceRoot, serverPaths = [] }: Omit<ChangeRequest, 'filePath'>,
): Promise<{ change: ProposedChange; difference: string }> {
  const change = await proposeChange({ workspaceRoot, filePath: stored.path, diff, serverPaths })
  if (change.beforeHash !== stored.beforeHash) change.warnings.push('The file has changed since the agent asked.')
  return { change, difference: differenceBetween(change.path, stored.after, change.after) }
}

/** Unified diff between two texts of one file; null is a file that is not there. Empty if they are the same. */
export function differenceBetween(path: string, from: Uint8Array | null, to: Uint8Array | null): string {
  if (from === to || (from !== null && to !== null && Buffer.compare(from, to) === 0)) return ''
  const textOf = (bytes: Uint8Array | null): string => (bytes === null ? '' : decodeFile(bytes, path).text)
  return withHeaders(path, kindBetween(from, to), unifiedDiff(textOf(from), textOf(to)).hunks)
}

/** An agent that deletes and an operator who keeps: from nothing to a file. */
function kindBetween(from: Uint8Array | null, to: Uint8Array | null): FileChange['kind'] {
  if (from === null) return 'create'
  return to === null ? 'delete' : 'modify'
}
