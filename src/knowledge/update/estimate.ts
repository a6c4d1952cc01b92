// What an update would read and embed, before it costs anything. It reads a few files of each kind and takes the others to be like them.

import { basename, extname } from 'node:path'
import type { EmbeddingSettings } from '../../domain/agent/agent.ts'
import { pageByPage } from '../../domain/page-by-page.ts'
import type { KnownFile, KnownFiles, PassageVectors } from '../../store/ports/knowledge.ts'
import { documentText } from '../cut/cut-passages.ts'
import type { IndexSettings } from '../knowledge.ts'
import { tokensOf } from './embed-passages.ts'
import { type ScannedFile, scanSources } from './scan-sources.ts'
import type { UpdaterDeps } from './update-index.ts'

export interface Estimate {
  /** New and changed ones. */
  files: number
  bytes: number
  /** Roughly, as all below. */
  passages: number
  /** Of what would be embedded, with the passages that are known and have no vector yet. */
  tokens: number
  /** Null: there is no price. */
  cost: number | null
}

export interface EstimateDeps extends Pick<UpdaterDeps, 'documents' | 'prepare' | 'excluded'> {
  store: Pick<KnownFiles, 'files' | 'figures'> & Pick<PassageVectors, 'unembedded'>
}

type Sources = Pick<IndexSettings, 'sources' | 'directory' | 'folders' | 'ignore'>

/** The files that are new or changed, and how many are gone, by their sizes and times alone. */
export async function changesOf(
  index: string,
  settings: Sources,
  { store, excluded }: { store: Pick<KnownFiles, 'files'>; excluded: readonly string[] },
  signal: AbortSignal,
): Promise<{ files: ScannedFile[]; gone: number }> {
  const { files, problems } = await scanSources(settings, excluded, signal)
  const changed = new Map(files.map((file) => [file.path, file]))
  const refused = new Set(problems.map(({ path }) => path))
  let gone = 0
  for await (const known of pageByPage(PAGE, (last?: KnownFile) => store.files(index, last?.path ?? '', PAGE))) {
    const file = changed.get(known.path)
    if (file === undefined) gone += refused.has(known.path) ? 0 : 1
    else if (file.bytes === known.bytes && file.changedMs === known.changedMs) changed.delete(known.path)
  }
  return { files: [...changed.values()], gone }
}

const SAMPLES = 5
const PAGE = 1_000
const KNOWN_SAMPLES = 100

export async function estimate(
  index: string,
  settings: Sources & { embedding: Pick<EmbeddingSettings, 'price'> | null },
  { store, documents, prepare, excluded }: EstimateDeps,
  signal: AbortSignal,
): Promise<Estimate> {
  const { files: wanted } = await changesOf(index, settings, { store, excluded }, signal)
  const left = settings.embedding === null ? { passages: 0, tokens: 0 } : await leftOf(index, store)
  const total = { files: wanted.length, bytes: 0, passages: left.passages, tokens: left.tokens }
  const kinds = Map.groupBy(wanted, ({ path }) => extname(path).toLowerCase())
  for (const kind of kinds.values()) {
    const bytes = bytesOf(kind)
    const found = await sampleOf(kind)
    const share = found.bytes === 0 ? 0 : bytes / found.bytes
    total.bytes += bytes
    total.passages += Math.round(found.passages * share)
    total.tokens += Math.round(found.tokens * share)
  }
  const price = settings.embedding?.price ?? null
  return { ...total, cost: price === null ? null : (total.tokens * price) / 1_000_000 }

  async function sampleOf(kind: readonly ScannedFile[]) {
    const sum = { bytes: 0, passages: 0, tokens: 0 }
    const step = Math.max(1, kind.length / SAMPLES)
    for (let at = 0; at < kind.length; at += step) {
      const file = kind[Math.floor(at)]
      if (file === undefined) break
      sum.bytes += file.bytes
      const found = await documents.read(file, async () => false, signal)
      if (found.kind !== 'read') continue
      const document = await prepare(found.extract, { name: basename(file.path), type: found.type })
      sum.passages += document.passages.length
      for (const passage of document.passages) sum.tokens += tokensOf(documentText(passage))
    }
    return sum
  }
}

const bytesOf = (files: readonly ScannedFile[]): number => files.reduce((sum, file) => sum + file.bytes, 0)

/** What earlier updates have not embedded yet. */
async function leftOf(index: string, store: EstimateDeps['store']): Promise<{ passages: number; tokens: number }> {
  const { passages, embedded } = await store.figures(index)
  const some = await store.unembedded(index, KNOWN_SAMPLES)
  const tokens = some.reduce((sum, one) => sum + tokensOf(documentText(one)), 0)
  const left = some.length < KNOWN_SAMPLES ? some.length : passages - embedded
  return { passages: left, tokens: some.length === 0 ? 0 : Math.round((tokens * left) / some.length) }
}
