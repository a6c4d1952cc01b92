// What became of the test cases of an agent, kept beside its sessions: the last results of each case, and since when it fails.

import { z } from 'zod'
import type { Clock } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'
import type { CaseResult } from './case-result.ts'

const MOST_RESULTS = 10
const MOST_FINDINGS = 5
const MOST_CHARS = 500

const outcome = z.enum(['passed', 'failed', 'error'])
const HistorySchema = z.object({
  /** Newest first. */
  results: z.array(z.object({ at: z.number(), outcome, durationMs: z.number() })),
  /** Epoch ms of the first of the results since which it has not passed. */
  failingSince: z.number().nullable(),
  /** What was wrong the last time. */
  findings: z.array(z.object({ check: z.string(), expected: z.string(), found: z.string() })),
})
export type CaseHistory = z.output<typeof HistorySchema>
const AgentHistorySchema = z.array(z.tuple([z.string(), HistorySchema]))

export interface TestHistory {
  /** By the name of the case. */
  of(agent: string): Promise<ReadonlyMap<string, CaseHistory>>
  /** Forgets cases that are not in `names` any more. Never throws: results are worth more than their history. */
  add(agent: string, names: readonly string[], results: readonly CaseResult[]): Promise<void>
}

interface HistoryDeps {
  /** What was kept of an agent, or null. */
  read(agent: string): Promise<string | null>
  keep(agent: string, value: string, at: number): Promise<unknown>
  clock: Pick<Clock, 'now'>
  logger: Logger
}

export function createTestHistory({ read, keep, clock, logger }: HistoryDeps): TestHistory {
  async function known(agent: string): Promise<Map<string, CaseHistory>> {
    const kept = await read(agent)
    return new Map(kept === null ? [] : AgentHistorySchema.parse(JSON.parse(kept)))
  }

  return {
    of: known,
    async add(agent, names, results) {
      try {
        const at = clock.now()
        const cases = await known(agent)
        for (const result of results) {
          if (result.outcome !== 'stopped') cases.set(result.name, after(cases.get(result.name), result, at))
        }
        await keep(agent, JSON.stringify([...cases].filter(([name]) => names.includes(name))), at)
      } catch (error) {
        logger.warn('the results of tests could not be kept', { agent, error })
      }
    },
  }
}

function after(before: CaseHistory | undefined, result: CaseResult, at: number): CaseHistory {
  const { findings, durationMs } = result
  const cut = (text: string) => (text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS).toWellFormed()}…` : text)
  const said = outcome.parse(result.outcome)
  return {
    results: [{ at, outcome: said, durationMs }, ...(before?.results ?? [])].slice(0, MOST_RESULTS),
    failingSince: said === 'passed' ? null : (before?.failingSince ?? at),
    findings: findings
      .slice(0, MOST_FINDINGS)
      .map(({ check, expected, found }) => ({ check, expected: cut(expected), found: cut(found) })),
  }
}
