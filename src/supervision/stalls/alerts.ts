// The alert that a silent agent raises: how it begins, and where it is found.

import type { Alert, AnyRecord } from '../../domain/records/record.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { WaitReads } from '../../store/ports/waits.ts'
import { newRecord, type Records } from '../records/records.ts'
import type { SessionNow } from '../sessions/take-step.ts'

const KIND = 'alert'
const isAlert = (record: AnyRecord): record is Alert => record.wait === KIND

export const alertOf = ({ waiting }: SessionNow): Alert | undefined => waiting.find(isAlert)

/** Throws `record_not_found`, also for a user who does not own its session. */
export const findAlert = (records: Records, by: Caller, id: string): Promise<Alert> => records.get(KIND, by, id)

export function newAlert(now: SessionNow, id: string, silentMs: number): Alert {
  const { supervision } = now.session
  return {
    ...newRecord(now, id),
    wait: KIND,
    expiresAt: null,
    callId: '',
    tool: '',
    arguments: '{}',
    supervised: { host: supervision.host },
    lastTool: supervision.lastTool,
    lastActivityAt: supervision.updatedAt,
    idleSeconds: Math.round(silentMs / 1_000),
    nudgeCount: supervision.nudgeCount,
    nudgeMessage: null,
    lastNudgeAt: null,
    nudgedBy: null,
    progressSnapshot: supervision.progressSnapshot,
  }
}

const MOST_COUNTED = 1_000

/** How many nudges the newest alerts took. Of several nudges of one silence only the last can have woken the agent. */
export async function countNudges(waits: Pick<WaitReads, 'list'>): Promise<{ sent: number; worked: number }> {
  const alerts = (await waits.list({ wait: KIND, limit: MOST_COUNTED })).filter(isAlert)
  return {
    sent: alerts.reduce((sum, { nudgeCount }) => sum + nudgeCount, 0),
    worked: alerts.filter(({ status, nudgeCount }) => status === 'self_recovered' && nudgeCount > 0).length,
  }
}
