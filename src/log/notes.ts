// Small records that belong to no session, kept with the store's other data: a schedule, what an agent remembers of somebody. They are
// notes of a channel whose name no channel can have, so both stores, exports and replicas know them already.

import type { Clock } from '../domain/clock.ts'
import { hasCode, ServerError } from '../domain/errors.ts'
import type { OutboxReads } from '../store/ports/outbox.ts'
import type { SessionLog } from './session-log.ts'

/** Names of channels have no spaces, so these are nobody's. */
export const notePlaces = ['test cases', 'kept schedules', 'kept memories'] as const
export type NotePlace = (typeof notePlaces)[number]

export interface KeptNote {
  key: string
  value: string
  /** Epoch ms of the last change. */
  at: number
}

export interface Notes {
  read(place: NotePlace, key: string): Promise<KeptNote | null>
  /** In the order of their keys. */
  list(place: NotePlace): Promise<KeptNote[]>
  /**
   * Writes what `change` makes of the value (null: there is none, or it goes), and returns it. If somebody else was quicker, `change` is
   * asked again with what they wrote: so nothing of two changes at once is lost. `change` may return what it was given: then nothing
   * is written. It may throw to refuse.
   */
  update(place: NotePlace, key: string, change: (was: string | null) => string | null): Promise<string | null>
}

export interface NotesDeps {
  log: Pick<SessionLog, 'commit'>
  outbox: Pick<OutboxReads, 'note' | 'notes'>
  clock: Pick<Clock, 'now'>
}

/** Each try that fails means that somebody else's has succeeded, so this many in a row are a fault and no crowd. */
const MOST_TRIES = 100

export function createNotes({ log, outbox, clock }: NotesDeps): Notes {
  return {
    read: (place, key) => outbox.note(place, key),
    list: (place) => outbox.notes(place),
    async update(place, key, change) {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const was = (await outbox.note(place, key))?.value ?? null
        const value = change(was)
        if (value === was) return value
        const note = { type: 'note_for_channel', channel: place, key, was } as const
        try {
          await log.commit(value === null ? { ...note, value } : { ...note, value, session: null, at: clock.now() })
          return value
        } catch (error) {
          if (!hasCode(error, 'conflict')) throw error
        }
      }
      throw new ServerError('conflict', `Others change ${JSON.stringify(key)} all the time. Try again later.`)
    },
  }
}
