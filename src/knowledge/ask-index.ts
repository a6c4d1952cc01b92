// What a search asks before the index: whether all files are read yet, and what the question means.

import { type Clock, sleep } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { TokenUsage } from '../domain/session/event.ts'
import type { Embedding } from '../models/embedding/embedding.ts'
import type { IndexKeeper, IndexState } from './index-keeper.ts'

/** A first question waits so long for files that are just being read. */
const PATIENCE_MS = 2_000
/** More are not read by then. */
const FEW_FILES = 50
const QUERY_EMBEDDING_MS = 10_000

/** Whoever asks while the files are first read waits a moment: a small folder is read by then. */
export async function untilReady(
  keeper: Pick<IndexKeeper, 'state'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<IndexState> {
  const until = clock.mono() + PATIENCE_MS
  for (;;) {
    const state = await keeper.state()
    const isFirst = state.updatedAt === null && (state.state === 'waiting' || state.state === 'indexing')
    const { done, total } = state.progress ?? { done: 0, total: 0 }
    if (!isFirst || total - done > FEW_FILES || clock.mono() >= until || signal.aborted) return state
    await sleep(clock, 50, signal)
  }
}

/** What may be missing, in sentences. */
export function lacksOf({ state, why, progress, updatedAt }: IndexState): string[] {
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
export async function embedQuery(embedding: Embedding, text: string, signal: AbortSignal): Promise<Asked> {
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
