import type { RunRecord } from '../../domain/run.ts'
import { dayOf, type TokenSums, type UsageRow } from '../ports/usage.ts'

/** What a run adds to the usage of its day, when it ends: a row for each model. */
export function usageRows({ sessionId, owner, agent, usage }: RunRecord, now: number): UsageRow[] {
  const models = new Map<string, UsageRow>()
  for (const one of usage) {
    const { provider = '', model = '' } = one
    const key = JSON.stringify([provider, model])
    const isFirst = models.size === 0
    const row = models.get(key) ?? {
      ...{ day: dayOf(now), sessionId, owner, agent, provider, model },
      ...{ runs: isFirst ? 1 : 0, modelRuns: 1, ...NONE },
    }
    models.set(key, {
      ...row,
      input: row.input + count(one.inputTokens),
      output: row.output + count(one.outputTokens),
      cachedInput: row.cachedInput + count(one.cachedInputTokens),
      cacheWrite: row.cacheWrite + count(one.cacheWriteInputTokens),
      reasoning: row.reasoning + count(one.reasoningTokens),
    })
  }
  return [...models.values()]
}

const NONE: TokenSums = { input: 0, output: 0, cachedInput: 0, cacheWrite: 0, reasoning: 0 }

/** Beyond it a count is a mistake, and sums of such counts would not fit. */
const MOST_TOKENS = 1e12

/** A provider may send anything, and one wrong count must not stop a run from ending. */
const count = (value: number | undefined): number =>
  typeof value === 'number' && value > 0 ? Math.round(Math.min(value, MOST_TOKENS)) : 0
