// What agents keep about users between sessions: short facts. Those of a user are one note, so a change of two at once loses nothing and
// "forget everything" is one change.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import { visibleProse } from '../../domain/text/visible-text.ts'
import type { Notes } from '../../log/notes.ts'

/** A fact that an agent keeps about a user. */
export interface Memory {
  id: string
  agent: string
  /** One line in which every character is visible. */
  text: string
  /** Where it was learned. */
  session: string
  run: string
  /** Epoch ms. */
  at: number
  /** When a person changed the text; null: nobody has. */
  correctedAt: number | null
}

/** The facts of one agent, or of all agents; one of them, or all. Absent: all. */
export interface MemoryFilter {
  agent?: string | undefined
  id?: string | undefined
}

export type Memories = ReturnType<typeof createMemories>

/** In characters, of one fact. */
export const MOST_MEMORY_CHARS = 500
/** Facts of one agent about one user. */
export const MOST_MEMORIES = 200

const PLACE = 'kept memories'

export interface MemoriesDeps {
  notes: Pick<Notes, 'read' | 'list' | 'update'>
  clock: Pick<Clock, 'now'>
}

export function createMemories({ notes, clock }: MemoriesDeps) {
  /** Nothing is kept of a user without facts. */
  const update = (owner: string, change: (all: Memory[]) => Memory[]): Promise<string | null> =>
    notes.update(PLACE, owner, (was) => {
      const before = parse(was)
      const after = change(before)
      if (after === before) return was
      return after.length === 0 ? null : JSON.stringify(after)
    })

  return {
    /** Oldest first. */
    of: async (owner: string): Promise<Memory[]> => parse((await notes.read(PLACE, owner))?.value ?? null),

    /** Of everybody, in the order of their names. */
    all: async (): Promise<{ owner: string; memories: Memory[] }[]> =>
      (await notes.list(PLACE)).map(({ key: owner, value }) => ({ owner, memories: parse(value) })),

    /**
     * False: the same is kept already, or this call has kept it before. Throws `invalid_request` for a text that is empty or too long, and
     * `limit` when there is no room.
     */
    async remember(owner: string, { text: given, ...fact }: Omit<Memory, 'at' | 'correctedAt'>): Promise<boolean> {
      const text = cleanText(given)
      let isNew = false
      await update(owner, (all) => {
        isNew = !all.some((one) => one.agent === fact.agent && (one.id === fact.id || one.text === text))
        if (!isNew) return all
        if (all.filter(({ agent }) => agent === fact.agent).length >= MOST_MEMORIES) {
          throw new ServerError(
            'limit',
            `${MOST_MEMORIES} facts are kept about this user, and there is no room for more. Forget one that is outdated, or put several into one.`,
          )
        }
        return [...all, { ...fact, text, at: clock.now(), correctedAt: null }]
      })
      return isNew
    },

    /** Null: there is no such fact. Throws `invalid_request` like `remember`, and `conflict` if the same is kept already. */
    async correct(owner: string, { id, agent }: MemoryFilter & { id: string }, given: string): Promise<Memory | null> {
      const text = cleanText(given)
      let corrected: Memory | null = null
      await update(owner, (all) => {
        const found = all.find(has({ id, agent })) ?? null
        corrected = found
        if (found === null || found.text === text) return all
        if (all.some((one) => one.agent === found.agent && one.text === text)) {
          throw new ServerError('conflict', 'Another fact says the same already. Erase this one instead.')
        }
        const changed = { ...found, text, correctedAt: clock.now() }
        corrected = changed
        return all.map((one) => (one === found ? changed : one))
      })
      return corrected
    },

    /** How many there were. */
    async forget(owner: string, filter: MemoryFilter): Promise<number> {
      let count = 0
      await update(owner, (all) => {
        const left = all.filter((one) => !has(filter)(one))
        count = all.length - left.length
        return count === 0 ? all : left
      })
      return count
    },
  }
}

/**
 * About whom a session keeps facts. A test case (its session is unlisted) has a user of its own: cases run side by side, and none may
 * know what another one was told.
 */
export const rememberedUser = ({ id, owner, unlisted }: SessionRecord): string =>
  unlisted ? `${owner} in ${id}` : owner

const has =
  ({ agent, id }: MemoryFilter) =>
  (one: Memory): boolean =>
    (agent === undefined || one.agent === agent) && (id === undefined || one.id === id)

const parse = (value: string | null): Memory[] => (value === null ? [] : JSON.parse(value))

/** Kept as everybody is shown it: no line break and no hidden character reaches a request or a page. */
function cleanText(given: string): string {
  const text = visibleProse(given.toWellFormed().replace(/\s+/g, ' ').trim())
  if (text !== '' && text.length <= MOST_MEMORY_CHARS) return text
  throw new ServerError(
    'invalid_request',
    text === ''
      ? 'The fact has no text.'
      : `The fact has ${text.length} characters, and ${MOST_MEMORY_CHARS} fit. Say it more briefly, or in two facts.`,
  )
}
