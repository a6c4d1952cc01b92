// The line that one call of a model leaves in the log: who was asked, what it cost, how it ended. Nothing that anybody said.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { loggedReason } from '../../domain/run.ts'
import type { FinishReason, Model, ModelPart, ModelUsage } from '../model.ts'

interface ModelCallLine {
  /** Sees what the model sends; the counts and the end are among it. */
  see(parts: readonly ModelPart[]): void
  /** It has answered. */
  ended(): void
  /** Nothing more comes of it. */
  failed(error: unknown): void
  /** Nobody wants the answer any more. Does nothing behind an end. */
  stopped(): void
}

export function startModelCallLine(
  { provider, name }: Pick<Model, 'provider' | 'name'>,
  clock: Pick<Clock, 'mono'>,
  log: Logger,
): ModelCallLine {
  const began = clock.mono()
  let usage: ModelUsage | null = null
  let finish: FinishReason | null = null
  let isWritten = false

  const fields = (outcome: string) => ({
    provider,
    model: name,
    ...(usage === null ? {} : { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens }),
    latency_ms: Math.round(clock.mono() - began),
    outcome,
    ...(finish === null ? {} : { finish }),
  })

  return {
    see(parts) {
      for (const part of parts) {
        if (part.type === 'usage') usage = part.usage
        else if (part.type === 'finish') finish = part.reason
      }
    },
    ended() {
      isWritten = true
      log.info('model call', fields('completed'))
    },
    failed(error) {
      isWritten = true
      log.warn('model call', { ...fields('failed'), ...reasonOf(error) })
    },
    stopped() {
      if (!isWritten) log.info('model call', fields('stopped'))
      isWritten = true
    },
  }
}

/** Why a model failed. */
export const reasonOf = (error: unknown): { code: string; reason: string } | { error: unknown } =>
  error instanceof ServerError ? loggedReason(error) : { error }
