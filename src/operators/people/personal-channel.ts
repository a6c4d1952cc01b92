// A channel to one operator who only reads there. What all such channels have in common; each knows how its service shows a notification.

import type { OperatorSettings } from '../../domain/settings/supervision-settings.ts'
import type { ChannelParts } from '../channel-parts.ts'
import { currentNotification, digestOf, type Notification } from '../notifications/notification.ts'
import { type CreateChannel, DeliveryFailed, type OperatorChannel } from '../operator.ts'
import { createPersonRules, type PersonRules } from './person-rules.ts'

/** What a channel to one operator is made from. */
export interface PersonToTell extends Pick<ChannelParts, 'post' | 'link'> {
  /** Name of the operator. */
  person: string
  rules: PersonRules
  /** What comes together is shown as one notification. */
  isDigest: boolean
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
    isDigest: person.notify.digestMs !== null,
    post,
    link,
  }))
}

/** A notification that is to be shown, and what is known about its earlier tries. */
export interface NotificationToShow {
  notification: Notification
  /** What `show` gave when it showed the record before; null: it has not. */
  ref: string | null
  /** Number of the delivery: the same when it is tried again. */
  n: number
  /** How often the delivery has failed. */
  attempts: number
  /** Stands for the words of the notification. */
  mark: string
}

interface PersonalChannelOptions extends Omit<PersonToTell, 'post'> {
  name: string
  /** Resolves when the service has taken it. Gives what is noted about the record, or null if nobody was shown anything. */
  show(shown: NotificationToShow, signal: AbortSignal): Promise<string | null>
  isSetUp?(): boolean
}

/** A service may fail once in a while. After so many failures in a row something is wrong. */
const TROUBLE_AFTER = 3

export const createPersonalChannel =
  ({ name, person, rules, isDigest, link, show, isSetUp }: PersonalChannelOptions): CreateChannel =>
  ({ find }) => {
    const reader = { channel: name, person, find, link }
    let failures = 0
    let trouble = ''

    async function watched<T>(work: Promise<T>): Promise<T> {
      try {
        const result = await work
        failures = 0
        return result
      } catch (error) {
        failures += 1
        trouble = error instanceof DeliveryFailed ? error.message : 'The last messages could not be sent.'
        throw error
      }
    }

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
      const news = found.filter((one) => one !== null).filter(({ notification }) => notification.isNews)
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
      await watched(show({ notification, ref: null, n, attempts, mark: only.mark }, signal))
    }

    return {
      name,
      surface: 'remote',
      ...rules,
      deliver,
      ...(isDigest ? { deliverTogether } : {}),
      ...(isSetUp === undefined ? {} : { isSetUp }),
      trouble: () => (failures < TROUBLE_AFTER ? null : `${name}: ${trouble}`),
      close: async () => {},
    }
  }
