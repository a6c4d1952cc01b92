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
export interface Seat {
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

const textKey = ({ thread, user }: Seat): string => `text/${thread}/${user}`
const editKey = (recordId: string, user: string): string => `edit/${recordId}/${user}`

export function createKeptNotes(notes: AnswerNotes) {
  return {
    expect: (seat: Seat, expected: ExpectedText): Promise<void> =>
      notes.set(seat.room, textKey(seat), JSON.stringify(expected), seat.sessionId),
    endExpecting: (seat: Seat): Promise<void> => notes.set(seat.room, textKey(seat), null, seat.sessionId),
    /** Also one whose time is over. */
    async expected(seat: Seat): Promise<ExpectedText | null> {
      const note = await notes.get(seat.room, textKey(seat))
      return note === null ? null : JSON.parse(note)
    },

    keepEdit: (seat: Seat, recordId: string, edit: EditedArguments): Promise<void> =>
      notes.set(seat.room, editKey(recordId, seat.user), JSON.stringify(edit), seat.sessionId),
    endEdit: (room: string, recordId: string, user: string, sessionId: string): Promise<void> =>
      notes.set(room, editKey(recordId, user), null, sessionId),
    async edit(room: string, recordId: string, user: string): Promise<EditedArguments | null> {
      const note = await notes.get(room, editKey(recordId, user))
      return note === null ? null : JSON.parse(note)
    },
  }
}

export type KeptNotes = ReturnType<typeof createKeptNotes>
