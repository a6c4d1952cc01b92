// A channel to one operator who only reads there. What all such channels have in common; each knows how its service shows a notification.

import type { OperatorSettings } from '../../domain/settings/supervision-settings.ts'
import type { Delivery } from '../../domain/supervision/delivery.ts'
import { byUrgency } from '../../supervision/inbox/urgency.ts'
import type { ChannelParts } from '../channel-parts.ts'
import { type CurrentNotification, currentNotification, digestOf } from '../notifications/notification.ts'
import { createTroubleWatch } from '../notifications/post.ts'
import type { CreateChannel, OperatorChannel } from '../operator.ts'
import { createPersonRules, type PersonRules } from './person-rules.ts'

/** What a channel to one operator is made from. */
export interface PersonToTell extends Pick<ChannelParts, 'post' | 'link'> {
  /** Name of the operator. */
  person: string
  rules: PersonRules
}

export function peopleToTell({
  supervision,
  post,
  link,
}: Pick<ChannelParts, 'supervision' | 'post' | 'link'>): (PersonToTell & Pick<OperatorSettings, 'contacts'>)[] {
  const { operators, escalation } = supervision
  return operators.map((person) => ({
    person: person.name,
    contacts: person.contacts,
    rules: createPersonRules({ person, operators, escalation }),
    post,
    link,
  }))
}

/** A notification that is to be shown, and what is known about its earlier tries. */
export interface NotificationToShow extends CurrentNotification, Pick<Delivery, 'n' | 'attempts'> {}

/** Noted about what was shown with others: it is not brought up to date by itself. */
const IN_DIGEST = 'in a digest'

interface PersonalChannelOptions extends Omit<PersonToTell, 'post'> {
  name: string
  /** Resolves when the service has taken it. Gives what is noted about the record, or null if nobody was shown anything. */
  show(shown: NotificationToShow, signal: AbortSignal): Promise<string | null>
  isSetUp?(): boolean
}

export const createPersonalChannel =
  ({ name, person, rules, link, show, isSetUp }: PersonalChannelOptions): CreateChannel =>
  ({ find }) => {
    const reader = { channel: name, person, find, link }
    const { watched, trouble } = createTroubleWatch(name)

    async function currentOf(delivery: Delivery): Promise<NotificationToShow | null> {
      const found = await currentNotification(delivery, reader)
      return found === null ? null : { ...found, n: delivery.n, attempts: delivery.attempts }
    }

    const deliver: OperatorChannel['deliver'] = async (delivery, signal) => {
      const found = await currentOf(delivery)
      if (found === null || (found.ref?.startsWith(IN_DIGEST) === true && !found.notification.isNews)) return null
      const note = await watched(show(found, signal))
      // The end is how `currentNotification` sees that these words are shown.
      return note === null ? null : `${note} ${found.mark}`
    }

    const deliverTogether: OperatorChannel['deliverTogether'] = async (deliveries, signal) => {
      const found = (await Promise.all(deliveries.map(currentOf))).filter((one) => one !== null)
      const news = found
        // Two items may be about the same words: an edit, or one more yes.
        .filter((one, i) => found.findIndex((other) => isSame(one, other)) === i)
        .filter(({ notification }) => notification.isNews)
        .sort((a, b) => (a.record === null || b.record === null ? 0 : byUrgency(a.record, b.record)))
      const [first] = deliveries
      const [only] = news
      if (first === undefined || only === undefined) return new Map()
      const { n, attempts } = first
      const all = news.map(({ notification }) => notification)
      const notification = news.length === 1 ? only.notification : digestOf(all, { n, link })
      const note = await watched(show({ ...only, notification, ref: null, n, attempts }, signal))
      return new Map(
        note === null ? [] : news.map((one) => [one.n, `${news.length === 1 ? note : IN_DIGEST} ${one.mark}`]),
      )
    }

    return {
      name,
      surface: 'remote',
      ...rules,
      deliver,
      deliverTogether,
      ...(isSetUp === undefined ? {} : { isSetUp }),
      trouble: () => trouble(),
      close: async () => {},
    }
  }

const isSame = (one: CurrentNotification, other: CurrentNotification): boolean =>
  one.notification.key === other.notification.key && one.mark === other.mark
