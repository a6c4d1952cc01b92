// Who looks at an item of the inbox, so that two people need not do the same work. It is no right and stops nobody from deciding, so it
// is in no log: the process that hears it remembers it for a minute, and tells the others.

import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { parseUuid } from '../../domain/ids.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { Replica } from '../../replicas/replica.ts'
import type { WaitReads } from '../../store/ports/waits.ts'

export interface Look {
  /** Of the item. */
  id: string
  name: string
  /** Since when. */
  at: number
}

const LOOK_MS = 60_000
/** Nobody looks at so many. */
const MOST = 1_000
const TOPIC = 'inbox looks'

interface WhoLooksDeps {
  waits: Pick<WaitReads, 'get'>
  replica: Pick<Replica, 'board' | 'changes'>
  clock: Pick<Clock, 'now' | 'after'>
}

export type WhoLooks = ReturnType<typeof createWhoLooks>
/** What everybody but one person looks at. */
export type OthersLooks = ReturnType<WhoLooks['besides']>

export function createWhoLooks({ waits, replica: { board, changes }, clock }: WhoLooksDeps) {
  const here = new Map<string, { look: Look; stopTimer: () => void }>()
  const watchers = new Set<() => void>()
  const own = (): Look[] => [...here.values()].map(({ look }) => look)
  const notify = () => {
    for (const changed of [...watchers]) changed()
  }
  board.say(TOPIC, own)
  const stopWatching = changes.watch(TOPIC, () => void board.listen(TOPIC).then(notify, () => {}))

  function tell(): void {
    notify()
    // What the others do not hear now, they read on the board a moment later.
    void board.publish().then(
      () => changes.tell(TOPIC),
      () => {},
    )
  }

  function forget(key: string): void {
    here.get(key)?.stopTimer()
    if (here.delete(key)) tell()
  }

  return {
    /** Counts for a minute, and longer if it is said again. Throws `record_not_found`. */
    async take(id: string, name: string): Promise<void> {
      const uuid = parseUuid(id)
      const wait = uuid === null ? null : await waits.get(uuid)
      if (wait === null || wait.wait === 'client_call') {
        throw new ServerError('record_not_found', `There is no item ${JSON.stringify(id)} in the inbox.`)
      }
      const key = JSON.stringify([wait.id, name])
      const was = here.get(key)
      was?.stopTimer()
      const look = was?.look ?? { id: wait.id, name, at: clock.now() }
      here.set(key, { look, stopTimer: clock.after(LOOK_MS, () => forget(key)) })
      if (here.size > MOST) forget([...here.keys()][0] ?? '')
      if (was === undefined) tell()
    },
    leave: (id: string, name: string) => forget(JSON.stringify([parseUuid(id), name])),
    besides: (name: string) => ({
      /** Of several at one item the one who came first. */
      list(): Look[] {
        const heard = board.heard(TOPIC).flatMap(({ said }) => (Array.isArray(said) ? said.filter(isLook) : []))
        const others = [...own(), ...heard].filter((look) => look.name !== name).sort((a, b) => b.at - a.at)
        return [...new Map(others.map((look) => [look.id, look])).values()]
      },
      /** Calls `changed` when the list may be another one. The returned function ends it. */
      watch(changed: () => void): () => void {
        watchers.add(changed)
        return () => void watchers.delete(changed)
      },
    }),
    close() {
      stopWatching()
      for (const { stopTimer } of here.values()) stopTimer()
      here.clear()
    },
  }
}

/** Another version may say it in other words. */
const isLook = (said: unknown): said is Look =>
  isRecord(said) && typeof said.id === 'string' && typeof said.name === 'string' && typeof said.at === 'number'
