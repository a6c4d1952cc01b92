import { type RunRecord, tokenCount } from '../../domain/session/run.ts'
import { dayOf, type TokenSums, type UsageRow } from '../ports/usage.ts'

/** What a run adds to the usage of its day, when it ends: a row for each model. */
export function usageRows({ sessionId, owner, agent, usage }: RunRecord, now: number): UsageRow[] {
  const models = new Map<string, UsageRow>()
  for (const one of usage) {
    const { provider = '', model = '' } = one
    const key = JSON.stringify([provider, model])
    const isFirst = models.size === 0
    const row = models.get(key) ?? {
      day: dayOf(now),
      sessionId,
      owner,
      agent,
      provider,
      model,
      runs: isFirst ? 1 : 0,
      modelRuns: 1,
      ...NONE,
    }
    models.set(key, {
      ...row,
      input: row.input + tokenCount(one.inputTokens),
      output: row.output + tokenCount(one.outputTokens),
      cachedInput: row.cachedInput + tokenCount(one.cachedInputTokens),
      cacheWrite: row.cacheWrite + tokenCount(one.cacheWriteInputTokens),
      reasoning: row.reasoning + tokenCount(one.reasoningTokens),
    })
  }
  return [...models.values()]
}

const NONE: TokenSums = { input: 0, output: 0, cachedInput: 0, cacheWrite: 0, reasoning: 0 }
