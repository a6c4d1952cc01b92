import type { Alert } from '../../domain/records/record.ts'
import type { SupervisionSettings } from '../../domain/settings/supervision-settings.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { SupervisedSession } from '../sessions/take-step.ts'

/** Watches for agents elsewhere that have gone silent, and wakes them. */
export interface Stalls {
  /** Sends the agent a nudge now. Throws `record_not_found`, `forbidden`, `record_decided`. */
  nudge(by: Caller, alertId: string, text?: string): Promise<Alert>
  /** The silence is fine. The next one starts from here. */
  dismiss(by: Caller, alertId: string): Promise<Alert>
  /** Ends the session of the silent agent, and the alert with it. */
  stop(by: Caller, alertId: string): Promise<Alert>
  /** Nudges an agent without an alert. Throws `forbidden`, `session_ended`. */
  nudgeSession(by: Caller, sessionId: string, text?: string): Promise<void>
  /** Switches alerts and nudges of one session off, or on again. Throws `forbidden`, `session_ended`. */
  setEnabled(by: Caller, sessionId: string, enabled: boolean): Promise<SupervisedSession>
  /** Looks at all open sessions once, and does what is due. Gives the ms until the next look is needed. */
  sweep(): Promise<number>
  /** Sweeps again and again. */
  start(): void
  /** Writes down how long each agent has been silent, so that the time until the next start does not count. */
  close(): Promise<void>
}

export type StallSettings = SupervisionSettings['stall']

/** The source of a nudge that no person sent. */
export const NUDGES_ITSELF = 'quarterdeck'

/** A nudge on its way to the agent. */
export interface Nudge {
  sessionId: string
  message: string
  nudgeCount: number
  idleSeconds: number
  source: string
}

/** Pushes a nudge through an open connection. Gives the way it took, or null if none is open. */
export type PushNudge = (nudge: Nudge) => Promise<string | null>
