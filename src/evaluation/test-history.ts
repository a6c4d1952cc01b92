// What became of the test cases of an agent, kept beside its sessions: the last results of each case, and since when it fails.

import type { Clock } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'
import type { Notes } from '../log/notes.ts'
import type { CaseResult, Finding } from './case-result.ts'

const PLACE = 'test cases'
const MOST_RESULTS = 10
const MOST_FINDINGS = 5
const MOST_CHARS = 500

/** What somebody has stopped says nothing about the agent. */
interface EndedCase extends CaseResult {
  outcome: Exclude<CaseResult['outcome'], 'stopped'>
}

export interface CaseHistory {
  /** Newest first. */
  results: ({ at: number } & Pick<EndedCase, 'outcome' | 'durationMs'>)[]
  /** Epoch ms of the first of the results since which it has not passed. */
  failingSince: number | null
  /** What was wrong the last time. */
  findings: Finding[]
}

export type TestHistory = ReturnType<typeof createTestHistory>

interface HistoryDeps {
  notes: Pick<Notes, 'read' | 'update'>
  clock: Pick<Clock, 'now'>
  logger: Logger
}

export function createTestHistory({ notes, clock, logger }: HistoryDeps) {
  /** By the name of the case. */
  async function of(agent: string): Promise<Map<string, CaseHistory>> {
    const kept = await notes.read(PLACE, agent)
    return new Map(kept === null ? [] : JSON.parse(kept.value))
  }

  return {
    of,
    /** Forgets cases that are not in `names` any more. Never throws: results are worth more than their history. */
    async add(agent: string, names: readonly string[], results: readonly CaseResult[]): Promise<void> {
      try {
        const at = clock.now()
        const cases = await of(agent)
        for (const result of results) {
          const { name, outcome } = result
          if (outcome !== 'stopped') cases.set(name, after(cases.get(name), { ...result, outcome }, at))
        }
        const kept = JSON.stringify([...cases].filter(([name]) => names.includes(name)))
        await notes.update(PLACE, agent, () => kept)
      } catch (error) {
        logger.warn('the results of tests could not be kept', { agent, error })
      }
    },
  }
}

function after(before: CaseHistory | undefined, ended: EndedCase, at: number): CaseHistory {
  const { outcome, findings, durationMs } = ended
  const cut = (text: string) => (text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS).toWellFormed()}…` : text)
  return {
    results: [{ at, outcome, durationMs }, ...(before?.results ?? [])].slice(0, MOST_RESULTS),
    failingSince: outcome === 'passed' ? null : (before?.failingSince ?? at),
    findings: findings
      .slice(0, MOST_FINDINGS)
      .map(({ check, expected, found }) => ({ check, expected: cut(expected), found: cut(found) })),
  }
}
