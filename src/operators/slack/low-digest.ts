// What is low calls nobody by itself: its card waits in its thread. What nobody has answered by the end of a quarter of an hour is named
// to the room in one message, the most urgent first.

import { isWaiting, type PersonRecord } from '../../domain/records/record.ts'
import { byUrgency } from '../../supervision/inbox/urgency.ts'
import { describeInShort } from '../../supervision/records/describe-record.ts'
import type { OperatorChannel } from '../operator.ts'
import type { SlackMessage } from './cards/blocks.ts'
import { digestMessage } from './cards/messages.ts'
import { createEarlierPosts } from './earlier-posts.ts'
import type { RoomParts } from './slack-room.ts'

const EVERY_MS = 15 * 60_000

export function createLowDigest(deps: RoomParts): OperatorChannel {
  const { room, api, lookup, looks } = deps
  const name = `${deps.channel}:digest`
  const earlier = createEarlierPosts({ ...deps, channel: name })

  async function messageOf(waits: readonly PersonRecord[]): Promise<SlackMessage> {
    const views = waits.toSorted(byUrgency).map(async (wait) => {
      const session = await lookup.session(wait.sessionId)
      return describeInShort(wait, session === null ? undefined : looks.session(session))
    })
    return digestMessage(await Promise.all(views), lookup.link(null))
  }

  return {
    name,
    surface: 'remote',
    room,
    concerns: (item) => item.kind === 'wait' && item.status === 'pending' && item.risk === 'low',
    // Nobody is asked by it at once. If it counted as a way to reach somebody, an agent would wait in vain while Slack is away.
    asksFrom: ({ at }) => (Math.floor(at / EVERY_MS) + 1) * EVERY_MS,
    takeOver: earlier.takeOver,
    deliver: async () => null,
    deliverTogether: (deliveries, signal) =>
      earlier.attemptTogether(deliveries, signal, async () => {
        const posted = await earlier.keysAtTop(deliveries)
        const named = new Map<number, string>()
        const open = new Map<number, PersonRecord>()
        const known = new Set<string>()
        for (const { n, item } of deliveries) {
          const wait = item === null ? null : await lookup.find(item)
          // Each question is named once: an item may tell of an edit, or of a caller who has gone.
          if (wait === null || !isWaiting(wait) || wait.messageRefs[name] !== undefined || known.has(wait.id)) continue
          known.add(wait.id)
          const ts = digestWith(n, posted)
          if (ts === null) open.set(n, wait)
          else named.set(n, ts)
        }
        if (open.size === 0) return named
        const numbers = [...open.keys()]
        const ts = await api.post(room, await messageOf([...open.values()]), {
          thread: null,
          key: `digest/${Math.min(...numbers)}-${Math.max(...numbers)}`,
          urgency: 'delivery',
          signal,
        })
        for (const n of numbers) named.set(n, ts)
        return named
      }),
    close: async () => {},
  }
}

/** `ts` of the digest that an earlier try has posted with the item of this number. The next try may be about more items, or fewer. */
function digestWith(n: number, posted: ReadonlyMap<string, string>): string | null {
  for (const [key, ts] of posted) {
    const [, first, last] = /^digest\/(\d+)-(\d+)$/.exec(key) ?? []
    if (first !== undefined && Number(first) <= n && n <= Number(last)) return ts
  }
  return null
}
