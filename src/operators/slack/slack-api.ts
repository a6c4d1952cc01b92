// What the parts of this folder need of Slack, in our words. `create-slack-api.ts` speaks to the real one.

import type { AnswerFile } from '../commands/answer.ts'
import type { SlackMessage, ThreadFile } from './cards/blocks.ts'
import type { CardState } from './cards/card.ts'

export interface SlackApi {
  /**
   * Posts a message and gives its `ts`. `key` stays with the message, so that `find` can tell whether it was posted. Throws
   * `DeliveryFailed`.
   */
  post(room: string, message: SlackMessage, how: { thread: string | null; key: string }): Promise<string>
  /** The `ts` of the message with this key in a thread, or in the room if `thread` is null; null: it is not there. */
  find(room: string, thread: string | null, key: string): Promise<string | null>
  /** Replaces a message. A message that somebody has deleted is not an error. */
  update(room: string, ts: string, message: SlackMessage): Promise<void>
  /** Says something that only this person sees. */
  whisper(room: string, user: string, message: SlackMessage, thread: string | null): Promise<void>
  /**
   * Answers a slash command or a button, seen by this person alone. `replace`: in place of the message with the button. Slack takes five
   * answers within half an hour.
   */
  respond(responseUrl: string, message: SlackMessage, how?: { replace: boolean }): Promise<void>
  /** `thread` null: at the top of the room. */
  upload(room: string, thread: string | null, file: Pick<AnswerFile, 'name' | 'content' | 'snippetType'>): Promise<void>
  /** The bytes of a file that a person attached. Throws `invalid_request` when it has more than `mostBytes`. */
  download(url: string, mostBytes: number): Promise<Uint8Array>
  /** The newest messages of people in a room, oldest first. */
  recent(room: string, limit: number): Promise<{ messages: readonly RoomMessage[]; hasMore: boolean }>
}

export interface RoomMessage {
  ts: string
  user: string
  text: string
  threadTs: string | null
}

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
