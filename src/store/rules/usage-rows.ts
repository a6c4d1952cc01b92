import { hasFailed, type RunRecord, tokenCount } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { NewSummary } from '../ports/sessions.ts'
import { dayOf, type TokenSums, tookLetter, type UsageBeside, type UsageRow } from '../ports/usage.ts'

/**
 * What a run adds to the usage of its day, when it ends or begins to wait: a row for each model. A run that used none counts at the one
 * that it was to use.
 *
 * A run takes time from its start until it ends, or until it waits for a person. What continues it is a run of its own, so nobody's
 * thinking counts, and neither does the queue. A run that failed or was stopped says nothing about how long answers take.
 */
export function usageRows(run: RunRecord, now: number, intended: Pick<UsageRow, 'provider' | 'model'>): UsageRow[] {
  const { sessionId, owner, agent, usage, status, startedAt } = run
  if (startedAt === null) return []
  const ended = {
    failed: hasFailed(status) ? 1 : 0,
    cancelled: status === 'cancelled' ? 1 : 0,
    took: status === 'completed' || status === 'waiting' ? tookLetter(now - startedAt) : '',
  }
  const models = new Map<string, UsageRow>()
  for (const one of usage.length === 0 ? [intended] : usage) {
    const { provider = '', model = '' } = one
    const key = JSON.stringify([provider, model])
    const row = models.get(key) ?? {
      ...{ day: dayOf(now), sessionId, owner, agent, provider, model },
      ...(models.size === 0 ? { runs: 1, ...ended } : { runs: 0, failed: 0, cancelled: 0, took: '' }),
      modelRuns: 1,
      ...NONE,
    }
    models.set(key, 'inputTokens' in one ? withTokens(row, one) : row)
  }
  return [...models.values()]
}

/** What the server itself asked a model about a session, such as a summary of it. */
export const usageBesideRuns = ({ id, owner }: SessionRecord, { message, usage, agent }: NewSummary): UsageRow[] =>
  usage.map((one) => rowBeside({ at: message.createdAt, agent, usage: one }, { sessionId: id, owner }))

/** It belongs to no session, and to nobody. */
export const usageBesideSessions = (usage: readonly UsageBeside[]): UsageRow[] =>
  usage.map((one) => rowBeside(one, { sessionId: '', owner: '' }))

function rowBeside({ at, agent, usage }: UsageBeside, of: Pick<UsageRow, 'sessionId' | 'owner'>): UsageRow {
  const { provider = '', model = '' } = usage
  const row = { day: dayOf(at), ...of, agent, provider, model }
  return withTokens({ ...row, runs: 0, modelRuns: 0, failed: 0, cancelled: 0, took: '', ...NONE }, usage)
}

const withTokens = (row: UsageRow, one: RunRecord['usage'][number]): UsageRow => ({
  ...row,
  input: row.input + tokenCount(one.inputTokens),
  output: row.output + tokenCount(one.outputTokens),
  cachedInput: row.cachedInput + tokenCount(one.cachedInputTokens),
  cacheWrite: row.cacheWrite + tokenCount(one.cacheWriteInputTokens),
  reasoning: row.reasoning + tokenCount(one.reasoningTokens),
})

const NONE: TokenSums = { input: 0, output: 0, cachedInput: 0, cacheWrite: 0, reasoning: 0 }
