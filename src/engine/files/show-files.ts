// Decides what a model sees of the files in a conversation. The newest message with files comes first, older ones get what is
// left, and all of them together get a share of the context window.

import type { ModelInput } from '../../domain/agent/agent.ts'
import { type Extract, type FileRecord, isImage } from '../../domain/session/file.ts'
import { type StoredMessage, textOf } from '../../domain/session/message.ts'
import type { ModelAttachment } from '../../models/model.ts'
import { estimateTokens } from '../loop/context-window.ts'
import type { EventWriter } from '../run/run-writer.ts'
import { type FileText, filesText } from './file-text.ts'
import { type FilePart, filePartsOf, isUnreadable, type RunFiles, type Unreadable } from './run-files.ts'

export interface ShownFiles {
  /** By message id. */
  messages: ReadonlyMap<string, MessageFiles>
  /** Something was left out that the tool can show. */
  isLeftOut: boolean
}

export interface MessageFiles {
  /** Comes after the user's words. */
  text: string
  attachments: ModelAttachment[]
}

export const noFiles: ShownFiles = { messages: new Map(), isLeftOut: false }

export interface ShowOptions {
  takes: readonly ModelInput[]
  /** Tokens left for the history, files included. */
  budget: number
  correction: number
  writer: EventWriter
  /** Clients see the progress of this run's own files. Those of earlier runs were shown before. */
  runId: string
  signal: AbortSignal
  /** Name of the tool that shows the rest. */
  tool: string
}

/** Shares of the budget for the history. The newest file keeps the larger one also when a follow-up question comes without a file. */
const NEWEST_SHARE = 1 / 2
const OLDER_SHARE = 1 / 4
/** In tokens. With less space than this, a file is only named. */
const LEAST_SHARE = 200

/** What the strictest provider accepts as one image: 5 MB of base64. */
const MAX_IMAGE_BYTES = 3_750_000
/** For an image that was made smaller. Ten of them fit into one request. */
const MAX_SHRUNK_BYTES = 1_000_000
const MAX_PDF_BYTES = 5_000_000
/** In one request. */
const MAX_ATTACHED_BYTES = 10_000_000
const MAX_PDF_PAGES = 100

const IMAGE_TOKENS = 1_500
/** Providers read a page as text and as an image. */
const PAGE_TOKENS = 2_000

export async function showFiles(
  files: RunFiles,
  history: readonly StoredMessage[],
  options: ShowOptions,
): Promise<ShownFiles> {
  const { budget, correction } = options
  const messages = new Map<string, MessageFiles>()
  let isLeftOut = false
  let isNewest = true
  let olderBudget = budget * OLDER_SHARE
  let bytesLeft = MAX_ATTACHED_BYTES
  /** Tokens of everything newer, which takes precedence. */
  let newer = 0
  for (const message of history.toReversed()) {
    if (message.brokenOff === true) continue
    newer += messageTokens(message) * correction
    const parts = filePartsOf(message)
    if (parts.length === 0) continue
    const share = Math.max(0, Math.min(isNewest ? budget * NEWEST_SHARE : olderBudget, budget - newer))
    const shown = await showParts(files, parts, message, share, bytesLeft, options)
    messages.set(message.id, { text: shown.text, attachments: shown.attachments })
    isLeftOut ||= shown.isCut
    bytesLeft -= shown.attachedBytes
    const used = (estimateTokens(shown.text.length) + tokensOf(shown.attachments)) * correction
    newer += used
    if (!isNewest) olderBudget -= used
    isNewest = false
  }
  return { messages, isLeftOut }
}

const tokensOf = (attachments: readonly ModelAttachment[]): number =>
  attachments.reduce((sum, { tokens }) => sum + tokens, 0)

function messageTokens({ content, toolCalls = [] }: StoredMessage): number {
  const calls = toolCalls.reduce(
    (sum, call) => sum + call.function.name.length + call.function.arguments.length + 16,
    0,
  )
  return estimateTokens(textOf(content).length + calls + 16)
}

interface ShownParts extends MessageFiles {
  isCut: boolean
  attachedBytes: number
}

async function showParts(
  files: RunFiles,
  parts: readonly FilePart[],
  message: StoredMessage,
  share: number,
  bytesLeft: number,
  options: ShowOptions,
): Promise<ShownParts> {
  const { correction, runId, signal, tool } = options
  const writer = message.runId === runId ? options.writer : null
  let left = share
  let attachedBytes = 0
  const attachments: ModelAttachment[] = []
  /** Files that have to be read are read together at the end. */
  const texts: (FileText | (() => Promise<FileText>))[] = []
  for (const part of parts) {
    const file = await files.find(part)
    if (isUnreadable(file)) {
      texts.push(unreadable(part.name, file))
      if (writer !== null) files.warn(part.name, file.reason, writer)
      continue
    }
    if (share < LEAST_SHARE * correction && writer === null) {
      const line = `There is no space to show it here; read it with ${tool}.`
      texts.push({ as: 'line', name: file.name, line, isLeftOut: true })
      continue
    }
    const attachment = await attach(files, file, bytesLeft - attachedBytes, options)
    if (attachment !== null && attachment.tokens * correction <= left) {
      const { isShrunk, dataBytes, ...shown } = attachment
      attachments.push(shown)
      attachedBytes += dataBytes
      left -= attachment.tokens * correction
      if (writer !== null) files.tell(file, writer)
      const line = `It is attached as ${attachment.type === 'image' ? 'an image' : 'a PDF'}${isShrunk ? ', made smaller' : ''}.`
      texts.push({ as: 'line', name: file.name, line, isLeftOut: false })
      continue
    }
    texts.push(async () =>
      textFile(file, await files.read(file, signal, writer === null ? {} : { writer, unread: 'all' })),
    )
  }
  const read = await Promise.all(texts.map((one) => (typeof one === 'function' ? one() : one)))
  const { text, isCut } = filesText(read, (left / correction) * 4, tool)
  return { text, attachments, isCut, attachedBytes }
}

function textFile(file: FileRecord, read: Extract | Unreadable): FileText {
  if (isUnreadable(read)) return unreadable(file.name, read)
  if (!isImage(file.mimeType)) return { as: 'text', name: file.name, extract: read }
  const notes = ['The image itself is not shown to you; this is the text that was found in it.', ...read.notes]
  return { as: 'text', name: file.name, extract: { ...read, notes } }
}

const unreadable = (name: string, { reason }: Unreadable): FileText => ({
  as: 'line',
  name,
  line: `This file could not be read: ${reason}`,
  isLeftOut: false,
})

/** Null if the model has to get the file as text. */
async function attach(
  files: RunFiles,
  file: FileRecord,
  bytesLeft: number,
  { takes, signal }: ShowOptions,
): Promise<Attachment | null> {
  const { name, mimeType, bytes } = file
  const type = isImage(mimeType) ? 'image' : 'document'
  if (type === 'document' && mimeType !== 'application/pdf') return null
  const isTaken = takes.includes(type === 'image' ? 'image' : 'pdf') && files.attaches()
  if (!isTaken) return null
  const isShrunk = type === 'image' && bytes > Math.min(MAX_IMAGE_BYTES, bytesLeft)
  if (type === 'document' && bytes > Math.min(MAX_PDF_BYTES, bytesLeft)) return null
  const data = isShrunk ? await files.shrunk(file, MAX_SHRUNK_BYTES, signal) : await files.data(file)
  if (isUnreadable(data) || data.length > bytesLeft) return null
  const pages = type === 'image' ? 0 : estimatePages(data)
  if (pages > MAX_PDF_PAGES) return null
  const tokens = type === 'image' ? IMAGE_TOKENS : pages * PAGE_TOKENS
  const shownType = isShrunk ? 'image/jpeg' : mimeType
  return { type, mimeType: shownType, data: data.toString('base64'), name, tokens, isShrunk, dataBytes: data.length }
}

interface Attachment extends ModelAttachment {
  isShrunk: boolean
  dataBytes: number
}

/** About the size of a scanned page. Used when the file does not show its pages. */
const BYTES_A_PAGE = 100_000

/** About how many pages a PDF has: counted if its page objects are not compressed, otherwise guessed from its size. */
export function estimatePages(pdf: Buffer): number {
  const text = pdf.toString('latin1')
  const pages = text.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0
  const counts = [...text.matchAll(/\/Count\s+(\d{1,6})\b/g)].map(([, count]) => Number(count))
  const known = Math.max(pages, 0, ...counts)
  return known > 0 ? known : Math.ceil(pdf.length / BYTES_A_PAGE)
}
