import type { TokenUsage } from '../../domain/session/event.ts'

/** Turns texts into vectors whose angles say how alike they are in meaning. Every provider implements this port. */
export interface Embedding {
  readonly provider: string
  readonly name: string
  /** Texts in one request, and about how many tokens they may have together. */
  readonly most: { texts: number; tokens: number }
  /**
   * One vector for each text, in order, all of one length. `purpose`: some providers embed questions in another way than passages.
   * Waits and asks again after a rate limit or a passing failure, as often as the settings say. A failure is a `ServerError` with a
   * `model_*` code, as of a model.
   */
  embed(texts: readonly string[], purpose: 'passage' | 'query', signal: AbortSignal): Promise<Embedded>
}

export interface Embedded {
  vectors: Float32Array[]
  /** Null: the provider does not say. */
  usage: TokenUsage | null
}

/** The texts in order, as many at a time as one request takes. A text that alone is too long is alone. */
export function* batchesOf(texts: readonly string[], most: Embedding['most']): Generator<string[]> {
  let batch: string[] = []
  let tokens = 0
  for (const text of texts) {
    // Rather more than there are: a token is about four letters, or one Chinese character, which has three bytes.
    const own = Math.ceil(Buffer.byteLength(text) / 3)
    if (batch.length > 0 && (batch.length >= most.texts || tokens + own > most.tokens)) {
      yield batch
      batch = []
      tokens = 0
    }
    batch.push(text)
    tokens += own
  }
  if (batch.length > 0) yield batch
}
