// What stands for the older part of a long conversation: in the request to the model, in the log, and for people.

import { isRecord } from '../is-record.ts'
import type { TokenUsage } from './event.ts'
import type { StoredMessage } from './message.ts'

/** The lane of summaries. The newest one counts: it extends the one before. */
export const SUMMARIES = 'quarterdeck:summaries'
/** The type of the activity in which clients see a summary. */
export const SUMMARY = 'summary'

/** What a summary keeps word for word. Code carries these lines on; a model only adds some, and strikes some out. */
export const keptKinds = ['instructions', 'facts', 'decisions', 'tasks'] as const
export type KeptKind = (typeof keptKinds)[number]
export type KeptLines = Record<KeptKind, readonly string[]>

export interface Summary extends KeptLines {
  /** What happened, in a few paragraphs. */
  story: string
  /** Id of the last message that it covers. */
  upTo: string
  /** The question to which the messages after `upTo` are answers. Null: they begin with a question of their own. */
  question: string | null
  /** How many messages it covers, with those of the summaries before. */
  messages: number
  /** `provider/model`. */
  model: string
  usage: readonly TokenUsage[]
  /** In the currency of the prices; null: there are none. */
  cost: number | null
  /** The run in which clients were shown it first. */
  shownIn?: string
}

export interface KeptSummary extends Summary {
  /** Id of its message. */
  id: string
}

/** Null: the message is not a summary. */
export function summaryIn({ id, activity }: StoredMessage): KeptSummary | null {
  if (activity?.type !== SUMMARY || !isRecord(activity.content)) return null
  return { ...(activity.content as unknown as Summary), id }
}
