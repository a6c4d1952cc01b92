// What is remembered between two steps of a person: the text that they are about to write, and the arguments that they have edited.
// It is kept in the store, because the server may be started again in between.

import type { CardAction } from '../cards/card-actions.ts'

/** Notes of a room's channel. */
export interface AnswerNotes {
  get(room: string, key: string): Promise<string | null>
  /** Null removes it. A note goes away with its session. */
  set(room: string, key: string, value: string | null, sessionId: string): Promise<void>
}

/** A person in a thread. */
export interface Participant {
  room: string
  thread: string
  user: string
  sessionId: string
}

/** The person's next reply in the thread is the text for this. */
export interface ExpectedText {
  recordId: string
  action: CardAction
  digest: string | null
  /** Epoch ms. */
  until: number
}

/** Arguments that a person has sent, which nobody has approved yet. */
interface EditedArguments {
  arguments: Record<string, unknown>
  /** Digest of the record that they were made for. */
  base: string
  /** Digest of the edited call. */
  digest: string
}

export const TEXT_MINUTES = 15

const textKey = ({ thread, user }: Participant): string => `text/${thread}/${user}`
const editKey = (recordId: string, user: string): string => `edit/${recordId}/${user}`

export function createKeptNotes(notes: AnswerNotes) {
  return {
    expect: (participant: Participant, expected: ExpectedText): Promise<void> =>
      notes.set(participant.room, textKey(participant), JSON.stringify(expected), participant.sessionId),
    endExpecting: (participant: Participant): Promise<void> =>
      notes.set(participant.room, textKey(participant), null, participant.sessionId),
    /** Also one whose time is over. */
    async expected(participant: Participant): Promise<ExpectedText | null> {
      const note = await notes.get(participant.room, textKey(participant))
      return note === null ? null : JSON.parse(note)
    },

    keepEdit: (participant: Participant, recordId: string, edit: EditedArguments): Promise<void> =>
      notes.set(participant.room, editKey(recordId, participant.user), JSON.stringify(edit), participant.sessionId),
    endEdit: (room: string, recordId: string, user: string, sessionId: string): Promise<void> =>
      notes.set(room, editKey(recordId, user), null, sessionId),
    async edit(room: string, recordId: string, user: string): Promise<EditedArguments | null> {
      const note = await notes.get(room, editKey(recordId, user))
      return note === null ? null : JSON.parse(note)
    },
  }
}

export type KeptNotes = ReturnType<typeof createKeptNotes>
