import { ServerError } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import type { TokenUsage } from '../domain/session/event.ts'
import type { Model, ModelUsage } from './model.ts'

/** One prompt, one answer, without tools or history. Throws like the model, and for an answer longer than `maxChars`. */
export function createComplete(
  model: Model,
  maxChars: number,
): (prompt: string, signal: AbortSignal, log: Logger) => Promise<{ text: string; usage: TokenUsage[] }> {
  return async (prompt, signal, log) => {
    const messages = [{ role: 'user', content: prompt }] as const
    const request = { system: '', messages, aside: '', tools: [], responseFormat: null, sessionId: 'prompt', log }
    let text = ''
    let written = 0
    let used = null as ModelUsage | null
    await model.stream(request, signal, (parts) => {
      for (const part of parts) {
        if (part.type === 'text') text += part.delta
        if (part.type === 'text' || part.type === 'reasoning') written += part.delta.length
        if (part.type === 'usage') used = part.usage
      }
      if (written > maxChars) {
        throw new ServerError(
          'budget_exceeded',
          `The model’s answer is longer than ${maxChars} characters. Raise limits.answer_chars in agent.yaml if you need longer answers.`,
        )
      }
    })
    const { provider, name } = model
    return { text, usage: used === null ? [] : [{ provider, model: name, ...used }] }
  }
}
