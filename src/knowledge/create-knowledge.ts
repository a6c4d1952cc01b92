// The indexes of a server: which there are, who brings them up to date, and what they say of themselves. The work itself is done
// elsewhere (`knowledge-work.ts`), by a thread that starts when there is something to do.

import { resolve } from 'node:path'
import { untilAborted } from '../domain/abort.ts'
import type { Clock } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'
import type { TokenUsage } from '../domain/session/event.ts'
import { canonicalJson, sha256 } from '../json/digest.ts'
import type { Embedding } from '../models/embedding/embedding.ts'
import { embedQuery, lacksOf, untilReady } from './ask-index.ts'
import { createIndexKeeper, type IndexKeeper, notReady } from './index-keeper.ts'
import type { Found, IndexSettings, Knowledge, KnowledgeIndex } from './knowledge.ts'
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
  const keepers = new Map<string, IndexKeeper>()
  const listener: WorkListener = {
    progress: (index, progress) => keepers.get(index)?.progress(progress),
    async embed(index, texts) {
      const { embeddingOf, spent, log } = open()
      const { settings } = keepers.get(index) ?? {}
      const embedding = settings === undefined ? null : embeddingOf(settings)
      if (settings === undefined || embedding === null) throw new Error('an index without embedding embeds nothing')
      const { vectors, usage } = await embedding.embed(texts, 'passage', stopped.signal)
      // The vectors are paid for, whether that can be noted or not.
      if (usage !== null)
        await spent(settings, usage).catch((error: unknown) =>
          log.warn('tokens of an embedding were not counted', { error }),
        )
      return vectors
    },
  }
  const stopped = new AbortController()

  const indexes = new Map<string, KnowledgeIndex>()
  for (const { name: documents, ...settings } of all) {
    const id = indexId(settings)
    if (indexes.has(id)) continue
    const keeper = createIndexKeeper({
      ...{ id, documents, settings, parts: open, work },
      isKept: () => isKeeper,
      isEnding: () => stopped.signal.aborted,
    })
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

/** The same for the same files read in the same way, wherever it is asked. */
export function indexId({ directory, sources, ignore, embedding }: IndexSettings): string {
  const { provider, name, baseUrl = null, dimensions } = embedding ?? { provider: null, name: null, dimensions: null }
  const files = { sources: sources.map((one) => resolve(directory, one)).sort(), ignore }
  return `k-${sha256(canonicalJson({ ...files, provider, name, baseUrl, dimensions })).slice(0, 16)}`
}
