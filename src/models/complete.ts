import type { TokenUsage } from '../domain/event.ts'
import type { Model, ModelUsage } from './model.ts'

/** One question, one answer: no tools, no history. Throws like the model. */
export function createComplete(
  model: Model,
): (prompt: string, signal: AbortSignal) => Promise<{ text: string; usage: TokenUsage[] }> {
  return async (prompt, signal) => {
    const messages = [{ role: 'user', content: prompt }] as const
    const request = { system: '', messages, tools: [], responseFormat: null, sessionId: 'prompt' }
    let text = ''
    let used: ModelUsage | null = null
    for await (const parts of model.stream(request, signal)) {
      for (const part of parts) {
        if (part.type === 'text') text += part.delta
        if (part.type === 'usage') used = part.usage
      }
    }
    const { provider, name } = model
    return { text, usage: used === null ? [] : [{ provider, model: name, ...used }] }
  }
}
