// What became of the test cases of an agent, kept beside its sessions: the last results of each case, and since when it fails.

import { z } from 'zod'
import type { Clock } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { OutboxReads } from '../store/ports/outbox.ts'
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
  notes: Pick<OutboxReads, 'note'>
  log: Pick<SessionLog, 'commit'>
  clock: Pick<Clock, 'now'>
  logger: Logger
}

/** Not the name of a channel: those have no spaces. The store keeps such notes of ours for every agent. */
const PLACE = 'test cases'

export function createTestHistory({ notes, log, clock, logger }: HistoryDeps): TestHistory {
  async function read(agent: string): Promise<Map<string, CaseHistory>> {
    const note = await notes.note(PLACE, agent)
    return new Map(note === null ? [] : AgentHistorySchema.parse(JSON.parse(note.value)))
  }

  return {
    of: read,
    async add(agent, names, results) {
      try {
        const at = clock.now()
        const known = await read(agent)
        for (const result of results) {
          if (result.outcome !== 'stopped') known.set(result.name, after(known.get(result.name), result, at))
        }
        const value = JSON.stringify([...known].filter(([name]) => names.includes(name)))
        await log.commit({ type: 'note_for_channel', channel: PLACE, key: agent, session: null, value, at })
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
