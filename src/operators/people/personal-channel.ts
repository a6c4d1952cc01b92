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

    const deliver: OperatorChannel['deliver'] = async (delivery, signal) => {
      const found = await currentNotification(delivery, reader)
      if (found === null) return null
      const { n, attempts } = delivery
      const note = await watched(show({ ...found, n, attempts }, signal))
      // The end is how `currentNotification` sees that these words are shown.
      return note === null ? null : `${note} ${found.mark}`
    }

    const deliverTogether: OperatorChannel['deliverTogether'] = async (deliveries, signal) => {
      const found = await Promise.all(deliveries.map((delivery) => currentNotification(delivery, reader)))
      const news = found
        .filter((one) => one !== null)
        .filter(({ notification }) => notification.isNews)
        .sort((a, b) => (a.record === null || b.record === null ? 0 : byUrgency(a.record, b.record)))
      const [first] = deliveries
      const [only] = news
      if (first === undefined || only === undefined) return
      const { n, attempts } = first
      const notification =
        news.length === 1
          ? only.notification
          : digestOf(
              news.map((one) => one.notification),
              { n, link },
            )
      await watched(show({ ...only, notification, ref: null, n, attempts }, signal))
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
