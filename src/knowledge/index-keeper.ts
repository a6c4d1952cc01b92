// Keeps one index up to date: when it is looked at, what is tried again, and what it says of itself meanwhile.

import { untilAborted } from '../domain/abort.ts'
import { ServerError } from '../domain/errors.ts'
import type { KnowledgeParts, WorkPlace } from './create-knowledge.ts'
import type { IndexSettings, IndexStatus } from './knowledge.ts'
import type { KeepFresh } from './update/keep-fresh.ts'

interface IndexKeeperDeps {
  id: string
  /** The name of the tool, for people. */
  documents: string
  settings: IndexSettings
  /** Throws `not_ready` before knowledge is opened, and after it is closed. */
  parts(): KnowledgeParts
  work(): WorkPlace
  /** This process keeps the indexes. */
  isKept(): boolean
  isEnding(): boolean
}

export type IndexKeeper = ReturnType<typeof createIndexKeeper>
export type IndexState = Pick<IndexStatus, 'state' | 'why' | 'progress' | 'updatedAt'>

const FIRST_RETRY_MS = 2_000
const LAST_RETRY_MS = 300_000
/** Progress is told to other processes this often. */
const TELL_MS = 1_000
/** And logged this often. */
const LOG_MS = 5_000
/** Files that could not be read. The status has more. */
const MOST_LOGGED = 20

const nothingYet: IndexState = { state: 'waiting', why: null, progress: null, updatedAt: null }

export const notReady = (): ServerError =>
  new ServerError('not_ready', 'The documents cannot be searched: the server is not ready.')

export function createIndexKeeper({ id, documents, settings, parts: open, work, isKept, isEnding }: IndexKeeperDeps) {
  let state: IndexState = nothingYet
  let saidAt = Number.NEGATIVE_INFINITY
  /** One after the other: what is told last counts. */
  let telling: Promise<unknown> = Promise.resolve()
  let loggedAt = 0
  let lastProblems = 0
  /** While this process keeps the index. */
  let fresh: KeepFresh | null = null
  let retryMs = FIRST_RETRY_MS
  let cancelRetry = (): void => {}
  /** The last failure of the embedding that was logged. */
  let warnedOf: string | null = null
  let isWanted = true
  let wake = (): void => {}
  let waiting: PromiseWithResolvers<void>[] = []

  function say(next: Partial<IndexState>): void {
    const { said, clock, log } = open()
    const isNews = next.state !== undefined || next.progress === undefined
    state = { ...state, ...next }
    if (!isNews && clock.mono() - saidAt < TELL_MS) return
    saidAt = clock.mono()
    const text = JSON.stringify(state)
    telling = telling
      .then(() => said.write(id, text))
      .catch((error: unknown) => log.debug('the state of an index was not told', { error }))
  }

  async function updateOnce(signal: AbortSignal): Promise<void> {
    const { clock, log } = open()
    const asked = waiting
    waiting = []
    isWanted = false
    const began = clock.mono()
    loggedAt = began
    say({ state: 'indexing', why: null, progress: null })
    try {
      const { folders, read, removed, problems, why, isPassing } = await work().update(id)
      signal.throwIfAborted()
      void fresh?.watch(folders)
      say({ state: why === null ? 'ready' : 'failed', why, progress: null, updatedAt: clock.now() })
      if (why !== null && why !== warnedOf)
        log.warn('documents are found by their words alone', { documents, index: id, reason: why })
      warnedOf = why
      if (why !== null || isPassing) again()
      else retryMs = FIRST_RETRY_MS
      const isNews = read + removed > 0 || problems !== lastProblems
      lastProblems = problems
      if (isNews) await logDone({ read, removed, took_ms: Math.round(clock.mono() - began) })
      for (const one of asked) one.resolve()
    } catch (error) {
      const isOver = signal.aborted || isEnding()
      if (!isOver && isKept() && error instanceof ServerError && error.code === 'interrupted') {
        // The index was cleared, so all of it is read again.
        waiting.push(...asked)
        return want()
      }
      for (const one of asked) one.reject(error)
      if (isOver) return
      const why = error instanceof ServerError ? error.message : 'The documents could not be read. The log says why.'
      say({ state: 'failed', why, progress: null })
      log.warn('an index of documents is not up to date', { documents, index: id, error, retry_in_s: retryMs / 1000 })
      again()
    }
  }

  async function logDone(counts: { read: number; removed: number; took_ms: number }): Promise<void> {
    const { figures, problems } = await work().look(id)
    const notRead = problems.slice(0, MOST_LOGGED).map(({ path, problem }) => `${path}: ${problem}`)
    open().log.info('documents are up to date', {
      ...{ documents, index: id, files: figures.files, passages: figures.passages, problems: figures.problems },
      ...(notRead.length === 0 ? {} : { not_read: notRead }),
      ...counts,
    })
  }

  function onProgress(progress: NonNullable<IndexState['progress']>): void {
    const { clock, log } = open()
    say({ progress })
    if (clock.mono() - loggedAt < LOG_MS) return
    loggedAt = clock.mono()
    log.info('documents are being read', { documents, index: id, ...progress })
  }

  function again(): void {
    cancelRetry()
    cancelRetry = open().clock.after(retryMs, want)
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
  }

  function want(): void {
    isWanted = true
    wake()
  }

  /** Resolves when an update that begins from now on has ended. */
  async function updated(signal: AbortSignal): Promise<void> {
    const one = Promise.withResolvers<void>()
    // Nobody may be waiting by then.
    one.promise.catch(() => {})
    waiting.push(one)
    if (isKept()) want()
    else void updateOnce(signal)
    await untilAborted(one.promise, signal)
  }

  return {
    settings,
    want,
    progress: onProgress,
    /** Until the signal aborts. */
    async keep(signal: AbortSignal): Promise<void> {
      const wakeUp = () => wake()
      signal.addEventListener('abort', wakeUp)
      isWanted = true
      // What keeps an update from going on is in its state.
      fresh = open().watch(() => updated(signal).catch(() => {}))
      while (!signal.aborted) {
        if (isWanted) await updateOnce(signal)
        else
          await new Promise<void>((resolve) => {
            wake = resolve
            if (isWanted || signal.aborted) resolve()
          })
      }
      signal.removeEventListener('abort', wakeUp)
      cancelRetry()
      fresh.close()
      fresh = null
      for (const one of waiting) one.reject(notReady())
      waiting = []
    },
    updated,
    async state(): Promise<IndexState> {
      if (isKept() || open().whileHeld === null) return state
      const text = await open().said.read(id)
      return text === null ? nothingYet : (JSON.parse(text) as IndexState)
    },
  }
}
