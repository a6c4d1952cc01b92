// The indexes of a server: which there are, who brings them up to date, and what they say of themselves. The work itself is done
// elsewhere (`knowledge-work.ts`), by a thread that starts when there is something to do.

import { resolve } from 'node:path'
import { untilAborted } from '../domain/abort.ts'
import { type Clock, sleep } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import type { TokenUsage } from '../domain/session/event.ts'
import { canonicalJson, sha256 } from '../json/digest.ts'
import type { Embedding } from '../models/embedding/embedding.ts'
import type { Found, IndexSettings, IndexStatus, Knowledge, KnowledgeIndex } from './knowledge.ts'
import type { KnowledgeWork, WorkListener } from './knowledge-work.ts'
import type { KeepFresh } from './update/keep-fresh.ts'

/** Knowledge that a server opens and closes. Before `open`, and after `close`, every question is refused with `not_ready`. */
export interface OwnKnowledge extends Knowledge {
  open(parts: KnowledgeParts): void
  /** Brings the indexes up to date, and keeps them so while this process holds the job. */
  begin(): void
  close(): Promise<void>
}

export interface KnowledgeParts {
  /** Starts the work, or gives the one that goes on. `listener` hears of it. */
  work(listener: WorkListener): WorkPlace
  /** Null: it has none. */
  embeddingOf(settings: IndexSettings): Embedding | null
  /** Runs `work` while no other process on the store does it. Null: indexes are only brought up to date when somebody asks. */
  whileHeld: ((work: (signal: AbortSignal) => Promise<void>) => { close(): Promise<void> }) | null
  /** Other processes may keep the indexes, from files of other machines. */
  isShared: boolean
  /** What the process that keeps the indexes says of them, for all on the store. */
  said: { write(index: string, text: string): Promise<unknown>; read(index: string): Promise<string | null> }
  /** Asks that process to look for changes, and hears of it. */
  changes: { tell(): Promise<void>; watch(look: () => void): () => void }
  /** Watches folders. `changed` looks for changes. */
  watch(changed: () => Promise<void>): KeepFresh
  /** Tokens that an embedding has used beside runs. */
  spent(settings: IndexSettings, usage: TokenUsage): Promise<unknown>
  clock: Clock
  log: Logger
}

export interface WorkPlace extends KnowledgeWork {
  close(): Promise<void>
}

type State = Pick<IndexStatus, 'state' | 'why' | 'progress' | 'updatedAt'>

/** A first question waits so long for files that are just being read. */
const PATIENCE_MS = 2_000
const QUERY_EMBEDDING_MS = 10_000
const FIRST_RETRY_MS = 2_000
const LAST_RETRY_MS = 300_000
/** Progress is told to other processes this often. */
const TELL_MS = 1_000
/** And logged this often. */
const LOG_MS = 5_000

const nothingYet: State = { state: 'waiting', why: null, progress: null, updatedAt: null }

/** If several have the same id, the first one counts. `name` is the name of the tool, for people. */
export function createKnowledge(all: readonly (IndexSettings & { name: string })[]): OwnKnowledge {
  let parts: KnowledgeParts | null = null
  let place: WorkPlace | null = null
  let job: { close(): Promise<void> } | undefined
  let stopHearing = (): void => {}
  /** This process keeps the indexes, so the files on this machine are theirs. */
  let isKeeper = false
  let isClosed = false

  const isChecked = (): boolean => isKeeper || parts?.isShared === false

  const open = (): KnowledgeParts => {
    if (parts === null || isClosed) throw notReady()
    return parts
  }
  const work = (): WorkPlace => {
    const { work: start } = open()
    place ??= start(listener)
    return place
  }
  const keepers = new Map<string, ReturnType<typeof createKeeper>>()
  const listener: WorkListener = {
    progress: (index, progress) => keepers.get(index)?.progress(progress),
    async embed(index, texts) {
      const { embeddingOf, spent } = open()
      const { settings } = keepers.get(index) ?? {}
      const embedding = settings === undefined ? null : embeddingOf(settings)
      if (settings === undefined || embedding === null) throw new Error('an index without embedding embeds nothing')
      const { vectors, usage } = await embedding.embed(texts, 'passage', stopped.signal)
      if (usage !== null) await spent(settings, usage)
      return vectors
    },
  }
  const stopped = new AbortController()

  function createKeeper(id: string, { name: documents, ...settings }: (typeof all)[number]) {
    let state: State = nothingYet
    let saidAt = Number.NEGATIVE_INFINITY
    let loggedAt = 0
    /** While this process keeps the index. */
    let fresh: KeepFresh | null = null
    let retryMs = FIRST_RETRY_MS
    let cancelRetry = (): void => {}
    /** The last failure of the embedding that was logged. */
    let warnedOf: string | null = null
    let isWanted = true
    let wake = (): void => {}
    let waiting: PromiseWithResolvers<void>[] = []

    function say(next: Partial<State>): void {
      const { said, clock, log } = open()
      const isNews = next.state !== undefined || next.progress === undefined
      state = { ...state, ...next }
      if (!isNews && clock.mono() - saidAt < TELL_MS) return
      saidAt = clock.mono()
      void said
        .write(id, JSON.stringify(state))
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
        const { folders, read, removed, why, isPassing } = await work().update(id)
        signal.throwIfAborted()
        void fresh?.watch(folders)
        say({ state: why === null ? 'ready' : 'failed', why, progress: null, updatedAt: clock.now() })
        if (why !== null && why !== warnedOf)
          log.warn('documents are found by their words alone', { documents, index: id, reason: why })
        warnedOf = why
        if (why !== null || isPassing) again()
        else retryMs = FIRST_RETRY_MS
        if (read + removed > 0) await logDone({ read, removed, took_ms: Math.round(clock.mono() - began) })
        for (const one of asked) one.resolve()
      } catch (error) {
        const isOver = signal.aborted || stopped.signal.aborted
        if (!isOver && isKeeper && error instanceof ServerError && error.code === 'interrupted') {
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
      const [first] = problems
      open().log.info('documents are up to date', {
        ...{ documents, index: id, files: figures.files, passages: figures.passages, problems: figures.problems },
        ...(first === undefined ? {} : { first_problem: `${first.path}: ${first.problem}` }),
        ...counts,
      })
    }

    function onProgress(progress: NonNullable<State['progress']>): void {
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
      if (isKeeper) want()
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
      async state(): Promise<State> {
        if (isKeeper || open().whileHeld === null) return state
        const text = await open().said.read(id)
        return text === null ? nothingYet : (JSON.parse(text) as State)
      },
    }
  }

  const indexes = new Map<string, KnowledgeIndex>()
  for (const settings of all) {
    const id = indexId(settings)
    if (indexes.has(id)) continue
    const keeper = createKeeper(id, settings)
    keepers.set(id, keeper)
    indexes.set(id, {
      id,
      settings,
      async search(text, most, signal): Promise<Found> {
        const { embeddingOf, clock } = open()
        const state = await untilReady(keeper, clock, signal)
        const embedding = embeddingOf(settings)
        const lacks = lacksOf(state)
        const asked = embedding === null ? null : await embedQuery(embedding, text, signal)
        if (asked !== null && 'why' in asked)
          lacks.push(`The meaning could not be looked for, only the words: ${asked.why}`)
        const vector = asked !== null && 'vector' in asked ? asked.vector : null
        const query = { text, vector, most, checked: isChecked() }
        const { hits, hasLeftOut } = await untilAborted(work().search(id, query), signal)
        if (hasLeftOut)
          lacks.push(
            'Files that were found have just changed or are gone, so they were left out. Search again in a moment.',
          )
        return { hits, lacks, usage: asked !== null && 'usage' in asked && asked.usage !== null ? [asked.usage] : [] }
      },
      around: (passage, before, after) => work().around(id, { id: passage, before, after, checked: isChecked() }),
      async now(ids) {
        if (ids.length === 0) return new Map()
        return new Map((await work().now(id, ids, isChecked())).map((passage) => [passage.id, passage]))
      },
      async status() {
        const [state, { figures, problems }] = await Promise.all([keeper.state(), work().look(id)])
        const { embedding } = settings
        return {
          ...{ id, ...state, sources: settings.sources, files: figures.files, passages: figures.passages },
          embedded: embedding === null ? null : figures.embedded,
          embedding: embedding === null ? null : `${embedding.provider}/${embedding.name}`,
          problems: problems.map(({ path, problem }) => ({ file: path, why: problem ?? '' })),
          problemCount: figures.problems,
        }
      },
      async update(signal) {
        if (isKeeper || open().whileHeld === null) await keeper.updated(signal)
        else await open().changes.tell()
      },
      async clear() {
        await work().clear(id)
        if (isKeeper) keeper.want()
        else await open().changes.tell()
      },
    })
  }

  return {
    all: [...indexes.values()],
    of(settings) {
      const found = indexes.get(indexId(settings))
      if (found === undefined) throw new Error('no agent has an index with these settings')
      return found
    },
    open(given) {
      parts = given
    },
    begin() {
      const { whileHeld, changes, log } = open()
      stopHearing = changes.watch(() => {
        for (const keeper of keepers.values()) keeper.want()
      })
      job = whileHeld?.(async (signal) => {
        const stop = () => void place?.stop().catch(() => {})
        signal.addEventListener('abort', stop)
        isKeeper = true
        try {
          await work()
            .keepOnly([...indexes.keys()])
            .catch((error: unknown) => log.warn('indexes that nobody has any more were not removed', { error }))
          await Promise.all([...keepers.values()].map((keeper) => keeper.keep(signal)))
        } finally {
          isKeeper = false
          signal.removeEventListener('abort', stop)
        }
      })
    },
    async close() {
      if (isClosed) return
      stopHearing()
      stopped.abort()
      await place?.stop().catch(() => {})
      const ended = job?.close()
      isClosed = true
      await ended
      await place?.close()
    },
  }
}

const notReady = (): ServerError =>
  new ServerError('not_ready', 'The documents cannot be searched: the server is not ready.')

/** The same for the same files read in the same way, wherever it is asked. */
export function indexId({ directory, sources, ignore, embedding }: IndexSettings): string {
  const { provider, name, baseUrl = null, dimensions } = embedding ?? { provider: null, name: null, dimensions: null }
  const files = { sources: sources.map((one) => resolve(directory, one)).sort(), ignore }
  return `k-${sha256(canonicalJson({ ...files, provider, name, baseUrl, dimensions })).slice(0, 16)}`
}

/** Whoever asks while the files are first read waits a moment: a small folder is read by then. */
async function untilReady(keeper: { state(): Promise<State> }, clock: Clock, signal: AbortSignal): Promise<State> {
  const until = clock.mono() + PATIENCE_MS
  for (;;) {
    const state = await keeper.state()
    const isFirst = state.updatedAt === null && (state.state === 'waiting' || state.state === 'indexing')
    if (!isFirst || clock.mono() >= until || signal.aborted) return state
    await sleep(clock, 50, signal)
  }
}

function lacksOf({ state, why, progress, updatedAt }: State): string[] {
  if (state === 'failed') return [`Not everything can be found now. ${why ?? ''}`.trim()]
  if (updatedAt !== null) return []
  if (progress === null)
    return ['The server is still looking through the documents, so something may be missing. Search again in a moment.']
  const { done, total, phase } = progress
  return phase === 'embedding'
    ? [`Only ${done} of ${total} passages can be found by their meaning yet; all can be found by their words.`]
    : [`Only ${done} of ${total} files are read yet, so what is not found here may still be there.`]
}

type Asked = { vector: Float32Array; usage: TokenUsage | null } | { why: string }

/** A search does not fail because an embedding does. */
async function embedQuery(embedding: Embedding, text: string, signal: AbortSignal): Promise<Asked> {
  const late = AbortSignal.timeout(QUERY_EMBEDDING_MS)
  try {
    const { vectors, usage } = await embedding.embed([text], 'query', AbortSignal.any([signal, late]))
    const [vector] = vectors
    if (vector === undefined) return { why: 'the embedding answered nothing.' }
    return { vector, usage }
  } catch (error) {
    signal.throwIfAborted()
    if (late.aborted) return { why: `${embedding.provider}/${embedding.name} did not answer in time.` }
    if (!(error instanceof ServerError)) throw error
    return { why: error.message }
  }
}
