// The files of a session as one run sees them: looked up, read and shown, each at most once.

import { ServerError } from '../../domain/errors.ts'
import type { Extract, FileRecord } from '../../domain/file.ts'
import type { Logger } from '../../domain/logger.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { Store } from '../../store/store.ts'
import type { Files } from '../files-port.ts'
import type { Pen } from '../run/run-writer.ts'
import { withDistinctNames } from './distinct-names.ts'
import type { FilePart } from './file-parts.ts'

export interface RunFiles {
  /** In the order in which they came, under names that tell them apart. */
  ofSession(): Promise<readonly FileRecord[]>
  /** The file that a message of this session refers to. */
  find(part: FilePart): Promise<FileRecord | Unreadable>
  /**
   * The words in it. With `pen` the run shows how far it has come, and a failure is logged. Throws only when the run is told to
   * stop.
   */
  read(file: FileRecord, signal: AbortSignal, options?: ReadOptions): Promise<Extract | Unreadable>
  data(file: FileRecord): Promise<Buffer | Unreadable>
  /** A picture as a JPEG of at most so many bytes. Throws only when the run is told to stop. */
  shrunk(file: FileRecord, maxBytes: number, signal: AbortSignal): Promise<Buffer | Unreadable>
  /** Shows that a file has reached the model, however. */
  tell(file: FileRecord, pen: Pen): void
  /** Whether files may be attached as they are. */
  readonly attaches: boolean
  /** The model has refused them: from now on the run gets along with text. */
  stopAttaching(): void
}

export interface ReadOptions {
  pen?: Pen
  onProgress?: (done: number, total: number) => void
  /** Sections to read that an earlier time had to leave unread. */
  goOn?: 'all' | readonly string[]
}

/** Why there is nothing to show: a sentence for people. */
export interface Unreadable {
  reason: string
}

export const isUnreadable = (value: object): value is Unreadable => 'reason' in value

const isUnread = (read: Extract | Unreadable, labels: readonly string[]): boolean =>
  !isUnreadable(read) && (read.unread ?? []).some((label) => labels.includes(label))

/** Progress of one file is at most this many events. */
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

  /** What a client is told of a file; the same again is not said again. */
  function show(file: FileRecord, pen: Pen, state: { status: string; [more: string]: unknown }): void {
    const content = { file_id: file.id, name: file.name, ...state }
    const text = JSON.stringify(content)
    if (told.get(file.id) === text) return
    told.set(file.id, text)
    pen.emit({
      type: 'ACTIVITY_SNAPSHOT',
      messageId: `file_${file.id}`,
      activityType: 'FILE',
      content,
      timestamp: pen.timestamp(),
    })
    // It is seen at once. That it is in the log is not waited for: the step's own events are behind it.
    pen.flush().catch((error: unknown) => log.warn('an event of a file is late', { error }))
  }

  function explain(file: FileRecord, error: unknown): Unreadable {
    if (error instanceof ServerError) return { reason: error.message }
    log.error('a file failed unexpectedly', { file_id: file.id, error })
    return { reason: 'Something went wrong in the server.' }
  }

  async function readOnce(file: FileRecord, signal: AbortSignal, options: ReadOptions): Promise<Extract | Unreadable> {
    const { pen, onProgress } = options
    if (pen !== undefined) show(file, pen, { status: 'reading' })
    let shown = 0
    try {
      const extract = await files.read(
        file,
        signal,
        (done, total) => {
          onProgress?.(done, total)
          const part = total > 0 ? Math.floor((done / total) * MOST_EVENTS) : 0
          if (pen === undefined || part <= shown || signal.aborted) return
          shown = part
          show(file, pen, { status: 'reading', done, total })
        },
        options.goOn,
      )
      if (pen !== undefined) show(file, pen, { status: 'read' })
      return extract
    } catch (error) {
      signal.throwIfAborted()
      const unreadable = explain(file, error)
      if (pen !== undefined) {
        const { reason } = unreadable
        log.warn('a run goes on without a file', { file_id: file.id, type: file.mimeType, reason })
        show(file, pen, { status: 'unreadable', reason })
      }
      return unreadable
    }
  }

  async function lookUp({ id }: FilePart): Promise<FileRecord | Unreadable> {
    // A client may write any id into its message.
    const file = (await ofSession()).find((one) => one.id === id && one.owner === run.owner)
    return file ?? { reason: 'It is not there any more.' }
  }

  function ofSession(): Promise<readonly FileRecord[]> {
    listed ??= store.files.ofSession(run.sessionId).then(withDistinctNames)
    return listed
  }

  return {
    get attaches() {
      return attaches
    },
    stopAttaching() {
      attaches = false
    },

    ofSession,
    find: lookUp,

    async read(file, signal, options = {}) {
      const known = extracts.get(file.id)
      const { goOn = [] } = options
      // Pages that are asked for by name are read now; that all should be read was tried when the run first saw the file.
      const isMissing = known !== undefined && goOn !== 'all' && goOn.length > 0 && isUnread(await known, goOn)
      const reading = known === undefined || isMissing ? readOnce(file, signal, options) : known
      extracts.set(file.id, reading)
      // What was broken off says nothing about the file.
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

    tell: (file, pen) => show(file, pen, { status: 'read' }),
  }
}
