// The tool with which an agent reads attached files: the parts that did not fit, and files of older messages.

import type { Extract, ExtractSection, FileRecord } from '../../domain/session/file.ts'
import { FILES_NOTICE, fileLine, oneLine } from '../../domain/session/file-frame.ts'
import type { ServerTool, ToolOutcome } from '../../tools/tool.ts'
import { harmless } from '../loop/offered-tools.ts'
import { nameKey } from './distinct-names.ts'
import { labelOf, lengthOf, nameSections, readSections, renderFrom, unreadNote } from './render-extract.ts'
import { isUnreadable, type RunFiles } from './run-files.ts'

const NAME = 'read_file'
/** Used if the agent has a tool of that name already, for example from an MCP server for a file system. */
const OTHER_NAME = 'read_attached_file'

export const readFileName = (tools: ReadonlyMap<string, unknown>): string => (tools.has(NAME) ? OTHER_NAME : NAME)

const place = (description: string) => ({ type: ['string', 'integer'], description })

const parameters = {
  type: 'object',
  properties: {
    file: { type: 'string', description: 'Name of the file as it is shown, or its id.' },
    from: place('Where to begin: number of a page, sheet or slide, or its label. Default: the beginning.'),
    to: place('Where to end, in the same way. Default: the end.'),
    offset: {
      type: 'integer',
      minimum: 0,
      description:
        'Characters to skip, counted from the beginning of `from`. A result that was cut says which offset comes next.',
    },
  },
  required: ['file'],
  additionalProperties: false,
}

/** In characters. A result shows at least this much, however small the limit is. */
const LEAST_CHARS = 400
const MOST_NAMES = 50
const MOST_NOTES = 5
const TIMEOUT_MS = 300_000
/** Scanned pages that one call reads. So many are done well before the timeout. */
const MOST_READ_ON = 5

/** `limit` is the number of characters in one result. */
export function createReadFileTool(files: RunFiles, name: string, limit: number): ServerTool {
  return {
    location: 'server',
    name,
    description:
      'Reads a file that was attached in this conversation: pages, sheets or slides of it, or all of its text. ' +
      'For an unknown name, the result lists the names of the files.',
    parameters,
    returns: null,
    ...harmless,
    timeoutMs: TIMEOUT_MS,
    binding: 'read_file',

    async call({ arguments: args, voice }, signal) {
      const found = find(await files.ofSession(), String(args.file))
      if (typeof found === 'string') return failed(found)
      const onProgress = (done: number, total: number) => voice.progress(done, total)
      let read = await files.read(found, signal, { onProgress })
      if (isUnreadable(read)) return failed(`This file could not be read: ${read.reason}`)
      let chosen = choose(read.sections, args.from, args.to)
      if (typeof chosen === 'string') return failed(chosen)
      const labels = new Set(chosen.map(({ label }) => label))
      const unread = (read.unread ?? []).filter((label) => labels.has(label)).slice(0, MOST_READ_ON)
      if (unread.length > 0) {
        read = await files.read(found, signal, { onProgress, unread })
        if (isUnreadable(read)) return failed(`These parts could not be read: ${read.reason}`)
        chosen = read.sections.filter(({ label }) => labels.has(label))
      }
      const offset = typeof args.offset === 'number' ? args.offset : 0
      return { content: piece(found, read, chosen, offset, limit, name), isError: false }
    },
  }
}

const failed = (content: string): ToolOutcome => ({ content, isError: true })

/** No two files have the same name. Returns a sentence for the model if there is no such file. */
function find(files: readonly FileRecord[], wanted: string): FileRecord | string {
  const key = nameKey(wanted)
  const found = files.find(({ id }) => id === wanted) ?? files.find(({ name }) => nameKey(name) === key)
  if (found !== undefined) return found
  if (files.length === 0) return 'No file was attached in this conversation.'
  const shown = files
    .slice(-MOST_NAMES)
    .map((file) => `${oneLine(file.name)} (id ${file.id}, ${file.mimeType}, ${file.bytes} bytes)`)
    .join('; ')
  return `There is no file ${JSON.stringify(oneLine(wanted))} in this conversation. The files: ${shown}.`
}

function choose(all: readonly ExtractSection[], from: unknown, to: unknown): ExtractSection[] | string {
  const first = from === undefined ? 0 : positionOf(all, from)
  const last = to === undefined ? all.length - 1 : positionOf(all, to)
  if (first === -1 && from !== undefined) return noSuchPart(all, from)
  if (last === -1 && to !== undefined) return noSuchPart(all, to)
  if (last < first && all.length > 0) return '`to` comes before `from`: the end must not be before the beginning.'
  return all.slice(first, last + 1)
}

const noSuchPart = (all: readonly ExtractSection[], wanted: unknown): string => {
  const has = isDivided(all) ? nameSections(all, all) : 'no parts: use offset'
  return `There is no part ${JSON.stringify(oneLine(String(wanted), 100))} in this file. It has ${has}.`
}

const isDivided = ([first]: readonly ExtractSection[]): boolean => first !== undefined && labelOf(first) !== ''

/** Understands `3`, `page 3`, `Orders` and `sheet orders`. If the labels have no numbers, a number counts the parts. */
function positionOf(all: readonly ExtractSection[], wanted: unknown): number {
  const text = oneLine(String(wanted), 100).toLowerCase()
  const labels = all.map((section) => labelOf(section).toLowerCase())
  const byLabel = labels.findIndex((label) => label === text || label.replace(/^\p{L}+ /u, '') === text)
  if (byLabel !== -1) return byLabel
  const number = /^(?:\p{L}+ )?(\d{1,6})$/u.exec(text)?.[1]
  const hasNumbers = labels.every((label) => /^\p{L}+ \d+$/u.test(label))
  const position = number === undefined || hasNumbers ? -1 : Number(number) - 1
  return position < all.length ? position : -1
}

function piece(
  file: FileRecord,
  read: Extract,
  wanted: readonly ExtractSection[],
  offset: number,
  limit: number,
  tool: string,
): string {
  const { sections, notes } = read
  const readable = new Set(readSections(read))
  const chosen = wanted.filter((section) => readable.has(section))
  const total = Math.max(0, lengthOf(chosen))
  const unread = unreadNote(read, tool)
  const head = [
    FILES_NOTICE,
    fileLine(file.name),
    ...notes.slice(0, MOST_NOTES).map((note) => `[note: ${oneLine(note, 200)}]`),
    ...(unread === null ? [] : [`[note: ${unread}]`]),
  ]
  if (total === 0 && chosen.length < wanted.length) return head.join('\n')
  if (total === 0) return [...head, '[note: No text was found here.]'].join('\n')
  if (offset >= total)
    return [...head, `[There is nothing after offset ${offset}: the text ends at ${total}.]`].join('\n')
  const parts = isDivided(chosen) ? `${nameSections(chosen, sections)}, ` : ''
  const where = (end: number) => `[${parts}characters ${offset} to ${end} of ${total}]`
  const range = rangeOf(chosen, sections)
  const more = (end: number) => `[There is more: call ${tool} again with ${range}offset ${end}.]`
  const frame = [...head, where(total), more(total), ''].join('\n').length
  const { text, end } = renderFrom(chosen, offset, Math.max(LEAST_CHARS, limit - frame))
  return [...head, where(end), text, ...(end < total ? [more(end)] : [])].join('\n')
}

/** Arguments that choose the same sections again. */
function rangeOf(chosen: readonly ExtractSection[], all: readonly ExtractSection[]): string {
  const [first, last] = [chosen[0], chosen.at(-1)]
  if (first === undefined || last === undefined || !isDivided(chosen)) return ''
  const to = last === all.at(-1) ? '' : `to ${JSON.stringify(labelOf(last))}, `
  return `from ${JSON.stringify(labelOf(first))}, ${to}`
}
