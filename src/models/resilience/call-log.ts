// Logs one call of a model as one line: which model, what it cost, how it ended. Never any text of the conversation.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import { loggedReason } from '../../domain/run.ts'
import type { FinishReason, Model, ModelPart, ModelUsage } from '../model.ts'

interface CallLog {
  /** Looks for usage and the finish reason among the model's parts. */
  see(parts: readonly ModelPart[]): void
  /** The model has answered. */
  ended(): void
  /** The call has failed for good. */
  failed(error: unknown): void
  /** The caller left before the end. Does nothing after `ended` or `failed`. */
  stopped(): void
}

export function startCallLog(
  { provider, name }: Pick<Model, 'provider' | 'name'>,
  clock: Pick<Clock, 'mono'>,
  log: Logger,
): CallLog {
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

/** Log fields that say why a model failed. */
export const reasonOf = (error: unknown): { code: string; reason: string } | { error: unknown } =>
  error instanceof ServerError ? loggedReason(error) : { error }
