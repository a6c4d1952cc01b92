// A server that dies between any two things that it does: from then on nothing that it asks for is done, or answers.

import type { Engine } from '../../engine/engine.ts'
import type { Notes } from '../../log/notes.ts'

/** `livesFor`: how many things it does, or how many runs it starts. The last one is done, but it does not hear of it. */
export function mortal(
  parts: { notes: Notes; engine: Engine },
  livesFor: number,
  counts: (name: string) => boolean = () => true,
) {
  let left = livesFor
  const never = new Promise<never>(() => {})

  const upTo =
    <Args extends unknown[], T>(name: string, work: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (left < 1) return never
      if (counts(name)) left -= 1
      const done = await work(...args)
      return left < 1 ? never : done
    }
  const { notes, engine } = parts
  const { runs, sessions } = engine
  return {
    isDead: () => left < 1,
    notes: { read: upTo('read', notes.read), list: upTo('list', notes.list), update: upTo('update', notes.update) },
    engine: {
      ...engine,
      runs: {
        ...runs,
        start: upTo('start', runs.start),
        byWireId: upTo('byWireId', runs.byWireId),
        get: upTo('get', runs.get),
      },
      sessions: {
        ...sessions,
        findForStart: upTo('findForStart', sessions.findForStart),
        getOpen: upTo('getOpen', sessions.getOpen),
      },
    },
  }
}
