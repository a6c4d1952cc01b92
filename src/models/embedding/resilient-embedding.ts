import { abortAfter, untilAborted } from '../../domain/abort.ts'
import type { EmbeddingSettings } from '../../domain/agent/agent.ts'
import { type Clock, sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { loggedReason } from '../../domain/session/run.ts'
import { modelFailure } from '../failure.ts'
import { waitBefore } from '../resilience/wait-before.ts'
import { withoutQuotes } from '../resilience/without-quotes.ts'
import type { Embedded, Embedding } from './embedding.ts'
import { readVectors } from './read-vectors.ts'

/** A provider's embeddings: one request, with nothing around it. */
export interface EmbeddingSource extends Pick<Embedding, 'provider' | 'name' | 'most'> {
  /** Where it runs, as errors name it. */
  readonly host: string
  /** Resolves with what the provider sent. A failure is a `ServerError`. */
  ask(texts: readonly string[], purpose: 'passage' | 'query', signal: AbortSignal): Promise<EmbeddingAnswer>
}

export interface EmbeddingAnswer {
  /** Lists of numbers, or their bytes in base64. Nothing is checked yet. */
  vectors: readonly unknown[]
  inputTokens: number | undefined
}

interface ResilientDeps {
  clock: Clock
  /** Evenly spread over [0, 1). */
  random: () => number
  log: Logger
}

/** For one attempt, from the first byte sent to the last one received. */
const TIMEOUT_MS = 60_000

/** Asks again after a failure that may pass, and checks what comes. An abort ends everything at once, even a wait between two attempts. */
export function createResilientEmbedding(
  source: EmbeddingSource,
  { retries, dimensions }: Pick<EmbeddingSettings, 'retries' | 'dimensions'>,
  { clock, random, log }: ResilientDeps,
): Embedding {
  const { provider, name, most } = source
  const about = { provider, model: name }

  async function attempt(
    texts: readonly string[],
    purpose: 'passage' | 'query',
    signal: AbortSignal,
  ): Promise<Embedded> {
    using late = abortAfter(clock, TIMEOUT_MS, { hold: true })
    const either = AbortSignal.any([signal, late.signal])
    let answer: EmbeddingAnswer
    try {
      answer = await untilAborted(source.ask(texts, purpose, either), either)
    } catch (error) {
      if (!late.signal.aborted || signal.aborted) throw error
      const message = `The embedding ${name} at ${source.host} did not answer within ${TIMEOUT_MS / 1000} s. Try again. If it happens again, check that server.`
      throw modelFailure('model_timeout', message, about, { retryable: true })
    }
    const { vectors, inputTokens } = answer
    return {
      vectors: readVectors(vectors, { ...about, host: source.host, texts: texts.length, dimensions }),
      usage: inputTokens === undefined ? null : { ...about, inputTokens, outputTokens: 0, totalTokens: inputTokens },
    }
  }

  return {
    provider,
    name,
    most,
    async embed(texts, purpose, signal) {
      if (texts.length === 0) return { vectors: [], usage: null }
      for (let failures = 0; ; failures += 1) {
        try {
          return await attempt(texts, purpose, signal)
        } catch (thrown) {
          signal.throwIfAborted()
          if (!(thrown instanceof ServerError)) throw thrown
          // Each text alone, because only a part of a long conversation is compared.
          const error = texts.reduce(
            (left, content) => withoutQuotes(left, { messages: [{ role: 'user', content }] }),
            thrown,
          )
          const wait = failures >= retries ? null : waitBefore(error, failures, random())
          if (wait === null) throw error
          log.warn('embedding is asked again', {
            ...about,
            ...loggedReason(error),
            attempt: failures + 1,
            wait_ms: wait,
          })
          await sleep(clock, wait, signal)
          signal.throwIfAborted()
        }
      }
    },
  }
}
