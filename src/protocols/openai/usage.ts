import type { TokenUsage } from '../../domain/session/event.ts'
import type { ChatUsage } from './chat-schema.ts'
import type { ResponseUsage } from './response-schema.ts'

/** The tokens of a run, over all its models. Null if no model reported them. */
export function chatUsage(usage: readonly TokenUsage[] | undefined): ChatUsage | null {
  const all = totals(usage)
  return all === null
    ? null
    : {
        prompt_tokens: all.input,
        completion_tokens: all.output,
        total_tokens: all.input + all.output,
        prompt_tokens_details: { cached_tokens: all.cached },
        completion_tokens_details: { reasoning_tokens: all.reasoning },
      }
}

export function responseUsage(usage: readonly TokenUsage[] | undefined): ResponseUsage | null {
  const all = totals(usage)
  return all === null
    ? null
    : {
        input_tokens: all.input,
        input_tokens_details: { cached_tokens: all.cached },
        output_tokens: all.output,
        output_tokens_details: { reasoning_tokens: all.reasoning },
        total_tokens: all.input + all.output,
      }
}

function totals(usage: readonly TokenUsage[] = []) {
  if (usage.length === 0) return null
  const sum = (count: (one: TokenUsage) => number | undefined) => usage.reduce((all, one) => all + (count(one) ?? 0), 0)
  return {
    input: sum((one) => one.inputTokens),
    output: sum((one) => one.outputTokens),
    cached: sum((one) => one.cachedInputTokens),
    reasoning: sum((one) => one.reasoningTokens),
  }
}
