// What the parts of this folder need of Slack, in our words. `create-slack-api.ts` speaks to the real one.

import type { ThreadFile } from './cards/blocks.ts'
import type { CardState } from './cards/card.ts'
import type { SlackCalls } from './create-slack-api.ts'

/** What answers need of it. */
export type SlackApi = Pick<SlackCalls, 'whisper' | 'respond' | 'upload' | 'download'>

/** The cards of all rooms, as answers see them. */
export interface SlackCards {
  /**
   * Writes the current state of a record to its card, if it has one. `state` is what goes on with it just now. Never throws: a card that
   * cannot be updated now is brought up to date later.
   */
  refresh(recordId: string, state?: CardState): Promise<void>
  /** The session whose thread this is; null: none of ours. */
  sessionOfThread(room: string, thread: string): Promise<string | null>
  /** Uploads what is too long for a card to the thread of its session. */
  attach(recordId: string, files: readonly ThreadFile[]): Promise<void>
}

/** What people do in Slack. Each is acknowledged by then. None may throw. */
export interface SlackAnswers {
  onAction(payload: unknown): Promise<void>
  onMessage(event: unknown, envelope: { teamId: string | null }): Promise<void>
  onCommand(payload: unknown): Promise<void>
}
