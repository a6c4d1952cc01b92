// Gives the passages of an index their vectors. Without them the words are still searched, so a provider that fails stops only this.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import type { TokenUsage } from '../../domain/session/event.ts'
import type { Embedding } from '../../models/embedding/embedding.ts'
import type { KnownFiles, NewVector, PassageVectors } from '../../store/ports/knowledge.ts'
import { documentText } from '../cut/cut-passages.ts'
import type { IndexStatus } from '../knowledge.ts'

export interface EmbedderDeps {
  store: PassageVectors & Pick<KnownFiles, 'figures'>
  embedding: Embedding
  quantize(vector: Float32Array): Omit<NewVector, 'digest'>
  /** Told after each answer of the provider. */
  spent(usage: TokenUsage): void
  clock: Clock
  log: Logger
}

export type EmbedEnd =
  | { why: null }
  /** What kept it from going on, and when to try again. */
  | { why: string; againMs: number }

export interface Embedder {
  /** Run only one at a time for an index. Throws the reason of the signal, and failures of the store. What was embedded before stays. */
  embed(
    index: string,
    signal: AbortSignal,
    onProgress: (progress: NonNullable<IndexStatus['progress']>) => void,
  ): Promise<EmbedEnd>
}

const FIRST_PAUSE_MS = 1_000
const LAST_PAUSE_MS = 300_000
const PROGRESS_MS = 200

type Unembedded = Awaited<ReturnType<PassageVectors['unembedded']>>[number]

/** About how many tokens a text has in any model: no language has many more than one for three bytes. */
export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3)

export function createEmbedder({ store, embedding, quantize, spent, clock, log }: EmbedderDeps): Embedder {
  /** Failures in a row. */
  let failures = 0

  async function embedAll(index: string, signal: AbortSignal, onBatch: (texts: number) => void): Promise<void> {
    let dimensions = await store.dimensions(index)
    let hasBegunAgain = false
    for (;;) {
      signal.throwIfAborted()
      const batch = fitting(await store.unembedded(index, embedding.most.texts), embedding.most.tokens)
      if (batch.length === 0) return
      const vectors = await ask(batch, signal)
      const length = vectors[0]?.length ?? 0
      if (dimensions !== length) {
        // Vectors of two lengths cannot be compared, so those that are kept are worth nothing now.
        if (hasBegunAgain) throw new AnswerError('answers with vectors of another length each time')
        if (dimensions !== null) {
          hasBegunAgain = true
          log.warn('the vectors of the embedding have another length now, so all passages are embedded again', {
            index,
            embedding: embedding.name,
            before: dimensions,
            now: length,
          })
          await store.sweepVectors(index, true)
        }
        dimensions = length
      }
      const rows = batch.map(({ digest }, i) => ({ digest, ...quantize(vectors[i] ?? new Float32Array(length)) }))
      await store.putVectors(index, rows)
      failures = 0
      onBatch(batch.length)
    }
  }

  async function ask(batch: readonly Unembedded[], signal: AbortSignal): Promise<Float32Array[]> {
    const { vectors, usage } = await embedding.embed(batch.map(documentText), 'passage', signal)
    if (usage !== null) spent(usage)
    const length = vectors[0]?.length ?? 0
    if (vectors.length !== batch.length)
      throw new AnswerError(`answers ${batch.length} texts with ${vectors.length} vectors`)
    if (length === 0 || vectors.some((one) => one.length !== length))
      throw new AnswerError('answers with vectors that are empty or not of one length')
    if (vectors.some((one) => one.some((value) => !Number.isFinite(value))))
      throw new AnswerError('answers with vectors that are not made of numbers')
    return vectors
  }

  return {
    async embed(index, signal, onProgress) {
      const { passages, embedded } = await store.figures(index)
      let [done, toldAt] = [0, Number.NEGATIVE_INFINITY]
      try {
        await embedAll(index, signal, (texts) => {
          done += texts
          if (clock.mono() - toldAt < PROGRESS_MS) return
          toldAt = clock.mono()
          // Passages with the same text share a vector, so there may be fewer.
          onProgress({ done, total: Math.max(done, passages - embedded), phase: 'embedding' })
        })
      } catch (error) {
        signal.throwIfAborted()
        const why = reasonOf(error, embedding)
        if (why === null) throw error
        const againMs = Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 20))
        failures += 1
        return { why, againMs }
      }
      failures = 0
      if (done > 0) await store.sweepVectors(index, false)
      return { why: null }
    },
  }
}

/** The provider answers, but not with what was asked for. */
class AnswerError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AnswerError'
  }
}

/** Null: it is not about the provider. */
function reasonOf(error: unknown, { provider, name }: Embedding): string | null {
  if (error instanceof AnswerError) return `The embedding ${name} of ${provider} ${error.message}.`
  return error instanceof ServerError && error.code.startsWith('model_') ? error.message : null
}

/** As many from the beginning as fit into one request, and one at least. */
function fitting(all: readonly Unembedded[], tokens: number): readonly Unembedded[] {
  let left = tokens
  const end = all.findIndex((one, i) => {
    left -= tokensOf(documentText(one))
    return left < 0 && i > 0
  })
  return end === -1 ? all : all.slice(0, end)
}
