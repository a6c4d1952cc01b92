import type { SessionRecord } from '../domain/session/session.ts'
import type { NoteShown } from '../supervision/approvals/looked-at.ts'
import type { Messenger } from '../supervision/messenger.ts'
import type { NoteRefused } from '../supervision/oversight/note-refused.ts'
import type { AnswerRecord } from '../supervision/records/answer-record.ts'
import type { SupervisedSessions } from '../supervision/sessions/supervised-sessions.ts'
import type { CommandServices } from './commands/command-services.ts'
import type { CreateChannel } from './operator.ts'

/** A chat service with rooms: one channel for each room, and what agents say there without asking anything. */
export interface Chat extends Pick<Messenger, 'recent'> {
  /** The channel that takes lines for this room; null: there is no such room. */
  linesOf(room: string): string | null
  /** The session that a thread of this room belongs to; null: it is not one of ours. */
  sessionOfThread(room: string, thread: string): Promise<string | null>
  /** Tells the session's room something that is old news soon. It gets lost if the chat does not take it now. */
  tell(session: SessionRecord, text: string): void
  /** One for each room. */
  channels: readonly CreateChannel[]
  /**
   * What this gives takes what people do there until the signal aborts: it connects, and again whenever the connection is lost. It may
   * be called again afterwards. Without it messages are posted all the same.
   */
  takeAnswers(services: ChatServices): (signal: AbortSignal) => Promise<void>
  close(): Promise<void>
}

/** What people in a chat answer and command. */
export interface ChatServices {
  answer: AnswerRecord
  sessions: Pick<SupervisedSessions, 'get' | 'steer'>
  commands: CommandServices
  noteShown: NoteShown
  noteRefused: NoteRefused
}
