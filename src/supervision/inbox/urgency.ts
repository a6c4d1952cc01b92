// In which order people are asked, on every surface: by risk, then by the time that is left, then by how long the agent has stood still.

import type { Risk } from '../../domain/agent/tool-settings.ts'
import type { PersonRecord } from '../../domain/records/record.ts'

/** What the order depends on. None of it changes while a record waits, so it is also a place in the order. */
export interface Urgency {
  risk: Risk
  /** Epoch ms; null: it never expires. */
  expiresAt: number | null
  stillSince: number
  id: string
}

/** The most urgent first. */
export const risksByUrgency = ['critical', 'high', 'low'] as const satisfies readonly Risk[]

/** What is no approval stops an agent or tells of one that has stopped, so it counts as high. */
export const riskOf = (record: PersonRecord): Risk => (record.wait === 'approval' ? record.risk : 'high')

export const urgencyOf = (record: PersonRecord): Urgency => ({
  risk: riskOf(record),
  expiresAt: record.expiresAt,
  stillSince: record.wait === 'alert' ? record.lastActivityAt : record.createdAt,
  id: record.id,
})

export const byUrgency = (a: PersonRecord, b: PersonRecord): number => compareUrgency(urgencyOf(a), urgencyOf(b))

/** Below zero: `a` comes first. */
export function compareUrgency(a: Urgency, b: Urgency): number {
  const ofRisk = risksByUrgency.indexOf(a.risk) - risksByUrgency.indexOf(b.risk)
  if (ofRisk !== 0) return ofRisk
  if (a.expiresAt !== b.expiresAt) return (a.expiresAt ?? Number.MAX_VALUE) - (b.expiresAt ?? Number.MAX_VALUE)
  return a.stillSince - b.stillSince || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
