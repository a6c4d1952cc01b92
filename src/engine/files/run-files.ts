// The files of a session as one run sees them. Each is looked up, read and shown once at most.

import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { Logger } from '../../domain/logger.ts'
import type { Extract, FileRecord } from '../../domain/session/file.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { Store } from '../../store/store.ts'
import type { Files } from '../files-port.ts'
import type { EventWriter } from '../run/run-writer.ts'
import { withDistinctNames } from './distinct-names.ts'

export interface RunFiles {
  /** In the order of their arrival, under distinct names. */
  ofSession(): Promise<readonly FileRecord[]>
  /** The file that a message of this session refers to. */
  find(part: FilePart): Promise<FileRecord | Unreadable>
  /**
   * The text of a file. With `writer`, the run shows the progress and logs a failure. Throws only when the run is told to stop.
   */
  read(file: FileRecord, signal: AbortSignal, options?: ReadOptions): Promise<Extract | Unreadable>
  data(file: FileRecord): Promise<Buffer | Unreadable>
  /** A picture as a JPEG of at most `maxBytes`. Throws only when the run is told to stop. */
  shrunk(file: FileRecord, maxBytes: number, signal: AbortSignal): Promise<Buffer | Unreadable>
  /** Shows that the model has got the file, as text or as it is. */
  tell(file: FileRecord, writer: EventWriter): void
  /** Tells the client that a file could not be read. */
  warn(name: string, reason: string, writer: EventWriter): void
  /** Whether the model may get files as they are. */
  attaches(): boolean
  /** The model has refused them: from now on the run sends their text. */
  stopAttaching(): void
}

export interface ReadOptions {
  writer?: EventWriter
  onProgress?: (done: number, total: number) => void
  /** Sections to read now that were left unread earlier. */
  unread?: 'all' | readonly string[]
}

export interface Unreadable {
  /** Why there is nothing to show, as a sentence for people. */
  reason: string
}

export const isUnreadable = (value: object): value is Unreadable => 'reason' in value

const hasUnread = (read: Extract | Unreadable, labels: readonly string[]): boolean =>
  !isUnreadable(read) && (read.unread ?? []).some((label) => labels.includes(label))

/** Events that show the progress of one file, at most. */
const MOST_EVENTS = 20

export function createRunFiles(
  files: Files,
  store: Pick<Store, 'files'>,
  run: Pick<RunRecord, 'id' | 'sessionId' | 'owner'>,
  log: Logger,
): RunFiles {
  const extracts = new Map<string, Promise<Extract | Unreadable>>()
  const told = new Map<string, string>()
  let attaches = true
  let listed: Promise<readonly FileRecord[]> | null = null

  /** Tells the client about a file. The same state is told once. */
  function show(file: FileRecord, writer: EventWriter, state: { status: string; [more: string]: unknown }): void {
    const content = { file_id: file.id, name: file.name, ...state }
    const text = JSON.stringify(content)
    if (told.get(file.id) === text) return
    told.set(file.id, text)
    writer.emit({
      type: 'ACTIVITY_SNAPSHOT',
      messageId: `file_${file.id}`,
      activityType: 'FILE',
      content,
      timestamp: writer.timestamp(),
    })
    // Clients see it at once. Nothing waits for the commit, because the step's own events come after it.
    writer.flush().catch((error: unknown) => log.warn('an event of a file is late', { error }))
  }

  /** AG-UI has no event for a warning, so it is a CUSTOM event. */
  function warn(name: string, reason: string, writer: EventWriter): void {
    const message = `${JSON.stringify(name)} could not be read: ${reason}`
    if (told.has(message)) return
    told.set(message, '')
    const value = { code: 'file_unreadable', message, name }
    writer.emit({ type: 'CUSTOM', name: 'quarterdeck:warning', value, timestamp: writer.timestamp() })
  }

  function explain(file: FileRecord, error: unknown): Unreadable {
    if (error instanceof ServerError) return { reason: error.message }
    log.error('a file failed unexpectedly', { file_id: file.id, error })
    return { reason: 'Something went wrong in the server.' }
  }

  async function readOnce(file: FileRecord, signal: AbortSignal, options: ReadOptions): Promise<Extract | Unreadable> {
    const { writer, onProgress } = options
    if (writer !== undefined) show(file, writer, { status: 'reading' })
    let shown = 0
    try {
      const extract = await files.read(
        file,
        signal,
        (done, total) => {
          onProgress?.(done, total)
          const part = total > 0 ? Math.floor((done / total) * MOST_EVENTS) : 0
          if (writer === undefined || part <= shown || signal.aborted) return
          shown = part
          show(file, writer, { status: 'reading', done, total })
        },
        options.unread,
      )
      if (writer !== undefined) show(file, writer, { status: 'read' })
      return extract
    } catch (error) {
      signal.throwIfAborted()
      const unreadable = explain(file, error)
      if (writer !== undefined) {
        const { reason } = unreadable
        log.warn('a run goes on without a file', { file_id: file.id, type: file.mimeType, reason })
        show(file, writer, { status: 'unreadable', reason })
        warn(file.name, reason, writer)
      }
      return unreadable
    }
  }

  async function lookUp({ id, unread }: FilePart): Promise<FileRecord | Unreadable> {
    if (unread !== null) return { reason: unread }
    // A client can write any id into its message, so the owner is checked.
    const file = (await ofSession()).find((one) => one.id === id && one.owner === run.owner)
    return file ?? { reason: 'It no longer exists.' }
  }

  function ofSession(): Promise<readonly FileRecord[]> {
    listed ??= store.files.ofSession(run.sessionId).then(withDistinctNames)
    return listed
  }

  return {
    attaches: () => attaches,
    stopAttaching() {
      attaches = false
    },

    ofSession,
    find: lookUp,

    async read(file, signal, options = {}) {
      const known = extracts.get(file.id)
      const { unread = [] } = options
      // Pages that are asked for by name are read now. Reading all was tried when the run first saw the file.
      const isMissing = known !== undefined && unread !== 'all' && unread.length > 0 && hasUnread(await known, unread)
      const reading = known === undefined || isMissing ? readOnce(file, signal, options) : known
      extracts.set(file.id, reading)
      // A read that was stopped says nothing about the file, so it is not kept.
      reading.catch(() => extracts.delete(file.id))
      return reading
    },

    async data(file) {
      try {
        return await files.bytes(file)
      } catch (error) {
        return explain(file, error)
      }
    },

    async shrunk(file, maxBytes, signal) {
      if (files.shrink === undefined) return { reason: 'It is too large.' }
      try {
        return await files.shrink(file, maxBytes, signal)
      } catch (error) {
        signal.throwIfAborted()
        return explain(file, error)
      }
    },

    tell: (file, writer) => show(file, writer, { status: 'read' }),
    warn,
  }
}

/** A file that a message refers to. The client wrote this, so it is not to be trusted. */
export interface FilePart {
  id: string
  /** Shown if the file no longer exists. */
  name: string
  /** Why the door could not take the file; null if it did. */
  unread: string | null
}

export function filePartsOf({ role, content }: Pick<StoredMessage, 'role' | 'content'>): FilePart[] {
  if (role !== 'user' || typeof content === 'string') return []
  return content.flatMap((part): FilePart[] => {
    if (part.type === 'text') return []
    const { filename, unread } = isRecord(part.metadata) ? part.metadata : {}
    const name = typeof filename === 'string' ? filename : 'file'
    if (typeof unread === 'string') return [{ id: '', name, unread }]
    return part.source.type === 'file' ? [{ id: part.source.value, name, unread: null }] : []
  })
}
