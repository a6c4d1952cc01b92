// A server that dies between any two things that it does: from then on nothing that it asks for is done, or answers.

import type { Engine } from '../../engine/engine.ts'
import type { Notes } from '../../log/notes.ts'

/** `livesFor`: how many things it does. The last one is done, but it does not hear of it. */
export function mortal(parts: { notes: Notes; engine: Engine }, livesFor: number) {
  let left = livesFor
  const never = new Promise<never>(() => {})

  const upTo =
    <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      left -= 1
      if (left < 0) return never
      const done = await work(...args)
      return left < 1 ? never : done
    }
  const { notes, engine } = parts
  const { runs, sessions } = engine
  return {
    isDead: () => left < 1,
    notes: { read: upTo(notes.read), list: upTo(notes.list), update: upTo(notes.update) },
    engine: {
      ...engine,
      runs: { ...runs, start: upTo(runs.start), byWireId: upTo(runs.byWireId), get: upTo(runs.get) },
      sessions: { ...sessions, findForStart: upTo(sessions.findForStart), getOpen: upTo(sessions.getOpen) },
    },
  }
}
