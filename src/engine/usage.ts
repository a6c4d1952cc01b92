import type { TokenUsage } from '../domain/event.ts'
import type { ModelUsage } from '../models/model.ts'

/** Adds one answer's usage to a run's, one entry per provider and model. Absent counts stay absent. */
export function addUsage(usage: readonly TokenUsage[], provider: string, model: string, add: ModelUsage): TokenUsage[] {
  const rest = usage.filter((one) => one.provider !== provider || one.model !== model)
  const before = usage.find((one) => one.provider === provider && one.model === model)
  const inputTokens = (before?.inputTokens ?? 0) + add.inputTokens
  const outputTokens = (before?.outputTokens ?? 0) + add.outputTokens
  const sum = (key: 'reasoningTokens' | 'cachedInputTokens' | 'cacheWriteInputTokens') => {
    const value =
      before?.[key] === undefined && add[key] === undefined ? undefined : (before?.[key] ?? 0) + (add[key] ?? 0)
    return value === undefined ? {} : { [key]: value }
  }
  return [
    ...rest,
    {
      provider,
      model,
      inputTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens,
      ...sum('reasoningTokens'),
      ...sum('cachedInputTokens'),
      ...sum('cacheWriteInputTokens'),
    },
  ]
}
