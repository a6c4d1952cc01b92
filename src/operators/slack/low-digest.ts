// What is low calls nobody by itself: its card waits in its thread. What nobody has answered by the end of a quarter of an hour is named
// to the room in one message, the most urgent first.

import { isWaiting } from '../../domain/records/record.ts'
import { byUrgency } from '../../supervision/inbox/urgency.ts'
import { describeInShort } from '../../supervision/records/describe-record.ts'
import type { OperatorChannel } from '../operator.ts'
import { digestMessage } from './cards/messages.ts'
import { createEarlierPosts } from './earlier-posts.ts'
import type { RoomParts } from './slack-room.ts'

const EVERY_MS = 15 * 60_000

export function createLowDigest(deps: RoomParts): OperatorChannel {
  const { room, api, lookup, looks } = deps
  const name = `${deps.channel}:digest`
  const earlier = createEarlierPosts({ ...deps, channel: name })

  return {
    name,
    surface: 'remote',
    room,
    concerns: (item) => item.kind === 'wait' && item.status === 'pending' && item.risk === 'low',
    // Nobody is asked by it at once. If it counted as a way to reach somebody, an agent would wait in vain while Slack is away.
    asksFrom: ({ at }) => (Math.floor(at / EVERY_MS) + 1) * EVERY_MS,
    takeOver: earlier.takeOver,
    deliver: async () => null,
    async deliverTogether(deliveries, signal) {
      const [first] = deliveries
      const found = await Promise.all(deliveries.map(async ({ item }) => (item === null ? null : lookup.find(item))))
      const waiting = found.flatMap((wait) => (wait !== null && isWaiting(wait) ? [wait] : [])).sort(byUrgency)
      // An item may be about an edit of what another one asked.
      const open = waiting.filter(({ id }, i) => waiting.findIndex((one) => one.id === id) === i)
      if (first === undefined || open.length === 0) return
      const views = await Promise.all(
        open.map(async (wait) => {
          const session = await lookup.session(wait.sessionId)
          return describeInShort(wait, session === null ? undefined : looks.session(session))
        }),
      )
      const key = `digest/${first.n}`
      await earlier.attempt(first, signal, async () => {
        if ((await earlier.atTop(first, key)) !== null) return
        await api.post(room, digestMessage(views, lookup.link(null)), {
          thread: null,
          key,
          urgency: 'delivery',
          signal,
        })
      })
    },
    close: async () => {},
  }
}
