// What one operator is told, and from when on. Pure: channels to single people (ntfy, Web Push) ask it for each item of the feed.

import { recordKinds } from '../../domain/records/record-kinds.ts'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { NotifyKind, QuietHours } from '../../domain/settings/channel-settings.ts'
import type { OperatorSettings, SupervisionSettings } from '../../domain/settings/supervision-settings.ts'
import { configuredOperators } from '../../supervision/sessions/may-command.ts'
import { isNews } from '../notifications/notification.ts'
import type { OperatorChannel } from '../operator.ts'

export type PersonRules = Required<Pick<OperatorChannel, 'concerns' | 'asksFrom' | 'notBefore' | 'isTogether'>>

/** What is low rings no phone by itself. */
const LOW_DIGEST_MS = 15 * 60_000

interface PersonRulesOptions extends Pick<SupervisionSettings, 'operators' | 'escalation'> {
  person: OperatorSettings
}

export function createPersonRules({ person, operators, escalation }: PersonRulesOptions): PersonRules {
  const { kinds, quietHours, digestMs } = person.notify
  const quietUntil = quietHours === null ? () => null : createQuietUntil(quietHours)
  const { personOf = (name: string) => name } = configuredOperators(operators)
  const escalated = escalation.find(({ to }) => to.some((name) => name === person.name || name === person.group))

  return {
    concerns: (item) => isOfKind(item, kinds),

    asksFrom(item, { supervision }) {
      // Every operator is asked what an agent of ours asks. But each conversation with it is a session, and nobody wants to hear of each.
      if (supervision === undefined) return item.kind === 'session' ? null : 0
      const owner = personOf(item.owner)
      // If the owner is not an operator any more, everybody is asked: nobody else would answer.
      if (owner === person.name || !operators.some(({ name }) => name === owner)) return 0
      if (item.kind === 'session' || escalated === undefined) return null
      return isNews(item) ? item.at + escalated.afterMs : 0
    },

    notBefore({ item }, now) {
      if (isAtOnce(item)) return now
      const every = digestMs ?? (isLow(item) ? LOW_DIGEST_MS : null)
      const told = item === null || every === null ? now : Math.ceil(item.at / every) * every
      return quietUntil(Math.max(told, now)) ?? told
    },

    /** What was held back comes as one message, whatever held it. */
    isTogether({ item }) {
      if (isAtOnce(item)) return false
      return digestMs !== null || isLow(item) || (item !== null && quietUntil(item.at) !== null)
    },
  }
}

/** A message that is there already is brought up to date without a sound, and what is over is not shown any more. */
const isAtOnce = (item: FeedItem | null): boolean =>
  item?.kind === 'wait' && (!isNews(item) || item.risk === 'critical')

const isLow = (item: FeedItem | null): boolean => item?.kind === 'wait' && item.risk === 'low'

/** Whether an item is about one of these words of the settings. They have none for runs. */
export const isOfKind = (item: FeedItem, kinds: readonly NotifyKind[]): boolean =>
  item.kind !== 'run' && kinds.includes(item.kind === 'wait' ? recordKinds[item.type].notify : 'session')

// When an operator does not want to be disturbed: from one time of day to another, in their own time zone.

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

/** Gives the epoch ms at which the quiet time ends that holds at `at`; null: it is not quiet then. */
export function createQuietUntil({ from, to, timeZone }: QuietHours): (at: number) => number | null {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

  function minuteOfDay(at: number): number {
    const [hours = 0, minutes = 0] = parts.format(at).split(':').map(Number)
    return hours * 60 + minutes
  }

  function isQuiet(at: number): boolean {
    const minute = minuteOfDay(at)
    return from <= to ? minute >= from && minute < to : minute >= from || minute < to
  }

  return (at) => {
    if (!isQuiet(at)) return null
    const left = (to - minuteOfDay(at) + DAY_MINUTES) % DAY_MINUTES
    const start = Math.floor(at / MINUTE_MS) * MINUTE_MS
    const end = start + left * MINUTE_MS
    if (!isQuiet(end) && isQuiet(end - MINUTE_MS)) return end
    // The clocks change before the end. Then it comes earlier or later, or there is no such time on that day.
    let time = start
    while (isQuiet(time)) time += MINUTE_MS
    return time
  }
}
