// The work on indexes over a store: updates one after the other for each index, and questions at any time.

import { ServerError } from '../domain/errors.ts'
import type { Passage } from '../domain/knowledge/passage.ts'
import type { KnowledgeStore, KnownPassage } from '../store/ports/knowledge.ts'
import type { IndexSettings } from './knowledge.ts'
import type { KnowledgeWork, Updated, WorkListener } from './knowledge-work.ts'
import { searchIndex } from './search-index.ts'
import type { Embedder } from './update/embed-passages.ts'
import { createIsCurrent } from './update/is-current.ts'
import type { Updater } from './update/update-index.ts'
import type { Analyzer } from './words/analyze.ts'

export interface WorkDeps {
  store: KnowledgeStore
  indexes: ReadonlyMap<string, IndexedSettings>
  updater: Updater
  analyzer: Analyzer
  listener: Pick<WorkListener, 'progress'>
}

export interface IndexedSettings extends Pick<IndexSettings, 'sources' | 'directory' | 'folders' | 'ignore'> {
  /** Null: words alone. */
  embedder: Embedder | null
}

const MOST_PROBLEMS = 1_000

export function createWork({ store, indexes, updater, analyzer, listener }: WorkDeps): KnowledgeWork {
  const underWay = new Map<string, { stop: AbortController; ended: Promise<unknown> }>()

  function settingsOf(index: string): IndexedSettings {
    const found = indexes.get(index)
    if (found === undefined) throw new Error(`nobody has the index ${index}`)
    return found
  }

  async function stopUpdate(index: string): Promise<void> {
    const update = underWay.get(index)
    update?.stop.abort(new ServerError('interrupted', 'The update was stopped. It goes on where it was.'))
    await update?.ended.catch(() => {})
  }

  async function updateOnce(index: string, signal: AbortSignal): Promise<Updated> {
    const { embedder, ...settings } = settingsOf(index)
    let folders: readonly string[] = []
    const tell = (progress: Parameters<WorkListener['progress']>[1]) => listener.progress(index, progress)
    const walked = (found: readonly string[]): void => {
      folders = found
    }
    const counts = await updater.update(index, settings, signal, { walked, progress: tell })
    const embedded = await embedder?.embed(index, signal, tell)
    const { read, removed, problems, passing } = counts
    return { folders, read, removed, problems, why: embedded?.why ?? null, isPassing: passing > 0 }
  }

  /** The same file is looked at once for all passages of a question. */
  async function current(index: string, found: KnownPassage[], isChecked: boolean): Promise<KnownPassage[]> {
    if (!isChecked || found.length === 0) return found
    const isCurrent = createIsCurrent(settingsOf(index))
    const still = await Promise.all(found.map(isCurrent))
    return found.filter((_, i) => still[i])
  }

  return {
    async update(index) {
      // Several may have waited for the same one.
      for (let last = underWay.get(index); last !== undefined; last = underWay.get(index))
        await last.ended.catch(() => {})
      const stop = new AbortController()
      const ended = updateOnce(index, stop.signal)
      underWay.set(index, { stop, ended })
      try {
        return await ended
      } finally {
        underWay.delete(index)
      }
    },
    async stop() {
      await Promise.all([...underWay.keys()].map(stopUpdate))
    },
    async search(index, { checked, ...query }) {
      let hasLeftOut = false
      const still = async (found: KnownPassage[]) => {
        const kept = await current(index, found, checked)
        if (kept.length < found.length) hasLeftOut = true
        return kept
      }
      const hits = await searchIndex({ store, analyzer, current: still }, index, query)
      return { hits, hasLeftOut }
    },
    async around(index, { id, before, after, checked }) {
      const found = await current(index, await store.around(index, id, before, after), checked)
      return found.some((one) => one.id === id) ? found.map(passageOf) : []
    },
    async now(index, ids, checked) {
      return (await current(index, await store.passages(index, ids), checked)).map(passageOf)
    },
    async look(index) {
      const [figures, problems] = await Promise.all([store.figures(index), store.problems(index, MOST_PROBLEMS)])
      return { figures, problems }
    },
    async clear(index) {
      await stopUpdate(index)
      await store.clear(index)
    },
    async keepOnly(kept) {
      for (const index of await store.indexes()) if (!kept.includes(index)) await store.clear(index)
    },
  }
}

/** Without what the store alone needs. */
export const passageOf = ({ id, file, place, headings, text }: KnownPassage): Passage => ({
  ...{ id, file, place, headings, text },
})
