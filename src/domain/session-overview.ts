import type { SupervisedStatus, Supervision } from './supervision.ts'
import { visibleProse } from './visible-text.ts'

/**
 * What a session does, in one word for lists. `waiting`: for a person or for the client. `ended`: only of an agent elsewhere, because a
 * conversation with an agent of ours can always go on. Everything else is `open`, also a paused agent.
 */
export const sessionActivities = ['open', 'running', 'waiting', 'ended'] as const
export type SessionActivity = (typeof sessionActivities)[number]

/** Whether our agents answer in it, or an agent elsewhere works in it. */
export const sessionKinds = ['chat', 'supervised'] as const
export type SessionKind = (typeof sessionKinds)[number]

/** What lists show of a session beyond its record. */
export interface SessionOverview {
  id: string
  /** The first words of its first message, or the title of the agent elsewhere. Empty if there is neither. */
  title: string
  activity: SessionActivity
  /** How many records wait for an answer. */
  pending: number
  /** Tokens that its runs have used, as the models reported them. */
  tokens: number
  /** Of an agent elsewhere; null: our agents answer in it. */
  elsewhere: Pick<Supervision, 'status' | 'workspaceRoot' | 'prompt'> | null
}

const TITLE_CHARS = 80

export interface SessionWork {
  supervised: SupervisedStatus | null
  isRunning: boolean
  hasQueued: boolean
  pending: number
}

export function activityOf({ supervised, isRunning, hasQueued, pending }: SessionWork): SessionActivity {
  if (supervised === 'terminated' || supervised === 'interrupted') return 'ended'
  if (isRunning) return 'running'
  if (pending > 0) return 'waiting'
  return hasQueued || supervised === 'created' || supervised === 'active' ? 'running' : 'open'
}

/** The first words of a text on one line, in which every character is visible. */
export function titleOf(text: string): string {
  const words = text
    .slice(0, 4 * TITLE_CHARS)
    .replace(/\s+/g, ' ')
    .trim()
  const shown = visibleProse(words.toWellFormed())
  if (shown.length <= TITLE_CHARS && text.length <= 4 * TITLE_CHARS) return shown
  const cut = shown.slice(0, TITLE_CHARS)
  const blank = cut.lastIndexOf(' ')
  return `${(blank > TITLE_CHARS / 2 ? cut.slice(0, blank) : cut).trimEnd().toWellFormed()}…`
}
