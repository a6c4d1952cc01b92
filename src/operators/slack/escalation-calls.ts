// Calls the people in Slack whom `operators.escalation` names, once a question has waited that long. Each step is a channel of its own:
// its outbox holds the question until then, also over a restart.

import { isWaiting } from '../../domain/records/record.ts'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { EscalationSettings } from '../../domain/settings/supervision-settings.ts'
import { riskOf } from '../../supervision/inbox/urgency.ts'
import { DeliveryFailed, type OperatorChannel } from '../operator.ts'
import { callMessage } from './cards/messages.ts'
import { createEarlierPosts } from './earlier-posts.ts'
import type { RoomParts } from './slack-room.ts'

/** Until then a card that Slack could not take has had another try. */
const AFTER_CARD_MS = 5_000

/** Null: nobody whom the step names is in Slack. */
export function createEscalationCall(deps: RoomParts, { afterMs, to }: EscalationSettings): OperatorChannel | null {
  const { room, api, lookup, looks, threads, reply, operators, personOf, outbox, log, clock } = deps
  const named = operators.filter(({ name, group }) => to.includes(name) || (group !== null && to.includes(group)))
  if (named.every(({ slack }) => slack === null)) return null
  const channel = `${deps.channel}:after-${afterMs / 1_000}`
  const earlier = createEarlierPosts({ ...deps, channel, threads })
  const isNew = (item: FeedItem): boolean => item.kind === 'wait' && item.status === 'pending'

  return {
    name: channel,
    surface: 'remote',
    room,
    concerns: isNew,
    takeOver: earlier.takeOver,
    // Our own agents ask every operator at once.
    asksFrom: (item, { supervision }) => (supervision === undefined ? null : item.at + afterMs),
    async deliver(delivery, signal) {
      // The room itself sums up what it cannot show.
      if (delivery.item === null) return null
      const wait = await lookup.find(delivery.item)
      const session = wait === null || !isWaiting(wait) ? null : await lookup.session(wait.sessionId)
      if (wait === null || session === null) return null
      if (wait.messageRefs[deps.channel] === undefined) {
        throw new DeliveryFailed('The card of this question is not there yet.', { retryAfterMs: AFTER_CARD_MS })
      }
      const users = named.flatMap(({ name, slack }) => (slack === null || name === personOf(wait.owner) ? [] : [slack]))
      const isCritical = riskOf(wait) === 'critical'
      if (users.length === 0 && !isCritical) return null
      const key = `call/${afterMs}/${wait.id}`
      // Later items about the same question tell of an edit, one more yes, or a caller who has gone. They call nobody again.
      if ((await outbox.note(channel, key)) !== null) return null
      return earlier.attempt(delivery, signal, async () => {
        const there = isCritical ? earlier.atTop(delivery, key) : earlier.inThread(delivery, session, key)
        if ((await there) === null) {
          const message = callMessage(await looks.view(wait, session), users, afterMs / 1_000, lookup.link(wait.id))
          const how = { urgency: 'delivery', signal } as const
          // Slack notifies nobody of a mention of the whole room in a thread.
          if (isCritical) await threads.add(await api.post(room, message, { ...how, thread: null, key }), session.id)
          else await reply(session, message, key, how)
        }
        const called = { channel, key, value: 'there', session: session.id, at: clock.now() }
        await log.commit({ type: 'note_for_channel', ...called })
        return null
      })
    },
    close: async () => {},
  }
}
