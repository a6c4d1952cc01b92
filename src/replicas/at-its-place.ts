import { ServerError } from '../domain/errors.ts'
import type { ReplicaBoard } from './replica-board.ts'
import type { ReplicaCalls } from './replica-calls.ts'

/**
 * Work that needs the files of one server: its machine's workspaces, its own folder. It is done by the server of that place, whichever
 * one is asked. Arguments and results are JSON.
 */
export type AtItsPlace = <Args extends unknown[], Result>(
  /** Names the work. The same at every server. */
  what: string,
  /** The place for these arguments. Undefined: it is not known, and the work is done here. */
  placeOf: (args: NoInfer<Args>) => Promise<string | undefined>,
  work: (...args: Args) => Promise<Result>,
) => (...args: Args) => Promise<Result>

interface PlaceDeps {
  /** Of this server. Null: there is no other one. */
  place: string | null
  board: Pick<ReplicaBoard, 'say' | 'listen'>
  calls: Pick<ReplicaCalls, 'serve' | 'ask'>
}

const TOPIC = 'place'
/** A restore of a large workspace takes minutes. */
const WORK_MS = 10 * 60_000

export function createAtItsPlace({ place: own, board, calls }: PlaceDeps): AtItsPlace {
  board.say(TOPIC, () => own)
  return <Args extends unknown[], Result>(
    what: string,
    placeOf: (args: Args) => Promise<string | undefined>,
    work: (...args: Args) => Promise<Result>,
  ) => {
    // The asker is a server like this one, with the same code.
    calls.serve(what, (asked) => work(...(asked as Args)))
    return async (...args: Args): Promise<Result> => {
      const place = await placeOf(args)
      if (place === undefined || isOfPlace(own, place)) return await work(...args)
      const there = (await board.listen(TOPIC)).find(({ said }) => said === place)
      if (there === undefined) throw nobodyThere(place)
      const isThere = async () => (await board.listen(TOPIC)).map(({ replica }) => replica).includes(there.replica)
      const answered = await calls.ask(there.replica, what, args, WORK_MS, isThere)
      if (answered === null) throw nobodyThere(place)
      return answered.answer as Result
    }
  }
}

/** Whether a process on the folder `own` began what is recorded under `place`: where one process owns the store, all of it. */
export const isOfPlace = (own: string | null, place: string | undefined): boolean => own === null || place === own

/** A place is `machine:folder`. */
function nobodyThere(place: string): ServerError {
  const at = place.indexOf(':')
  const [machine, folder] = [place.slice(0, at), place.slice(at + 1)]
  return new ServerError(
    'conflict',
    `The files for this are on ${machine}, and no server with the data directory ${folder} runs there. Start it, then try again.`,
    { details: { machine } },
  )
}
