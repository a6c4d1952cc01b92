import type { TokenUsage } from '../../domain/event.ts'
import type { ModelUsage } from '../../models/model.ts'

/** The tokens that a run has used so far, with all its models, sub-agents and tools. */
export interface UsageMeter {
  readonly total: TokenUsage[]
  add(provider: string, model: string, usage: ModelUsage): void
  addAll(usage: readonly TokenUsage[]): void
}

const parts = ['reasoningTokens', 'cachedInputTokens', 'cacheWriteInputTokens'] as const

/** Keeps one entry per provider and model. A count that nobody reported stays absent. */
export function createUsageMeter(before: readonly TokenUsage[]): UsageMeter {
  let total = [...before]

  function addOne(add: TokenUsage): void {
    const isSame = (one: TokenUsage) => one.provider === add.provider && one.model === add.model
    const known = total.find(isSame)
    const inputTokens = (known?.inputTokens ?? 0) + (add.inputTokens ?? 0)
    const outputTokens = (known?.outputTokens ?? 0) + (add.outputTokens ?? 0)
    const sum: TokenUsage = { ...known, ...add, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }
    for (const part of parts) {
      if (known?.[part] !== undefined || add[part] !== undefined) sum[part] = (known?.[part] ?? 0) + (add[part] ?? 0)
    }
    total = [...total.filter((one) => !isSame(one)), sum]
  }

  return {
    get total() {
      return total
    },
    add: (provider, model, usage) => addOne({ provider, model, ...usage }),
    addAll(usage) {
      for (const one of usage) addOne(one)
    },
  }
}
