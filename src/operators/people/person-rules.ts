// What one operator is told, and from when on. Pure: channels to single people (ntfy, Web Push) ask it for each item of the feed.

import { recordKinds } from '../../domain/records/record-kinds.ts'
import type { FeedItem } from '../../domain/session/feed.ts'
import type { NotifyKind } from '../../domain/settings/channel-settings.ts'
import type { EscalationSettings, OperatorSettings } from '../../domain/settings/supervision-settings.ts'
import { configuredOperators } from '../../supervision/sessions/configured-operators.ts'
import { isNews } from '../notice/notice.ts'
import type { OperatorChannel } from '../operator.ts'
import { createQuietUntil } from './quiet-until.ts'

export type PersonRules = Required<Pick<OperatorChannel, 'concerns' | 'asksFrom' | 'notBefore'>>

interface PersonRulesOptions {
  person: OperatorSettings
  /** All of them. */
  operators: readonly OperatorSettings[]
  /** Earliest first. */
  escalation: readonly EscalationSettings[]
}

export function createPersonRules({ person, operators, escalation }: PersonRulesOptions): PersonRules {
  const { kinds, quietHours, digestMs } = person.notify
  const quietUntil = quietHours === null ? () => null : createQuietUntil(quietHours)
  const { personOf = (name: string) => name } = configuredOperators(operators)
  const escalated = escalation.find(({ to }) => to.some((name) => name === person.name || name === person.group))

  return {
    concerns(item) {
      const kind = kindOf(item)
      return kind !== null && kinds.includes(kind)
    },

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
      // A message that is there already is brought up to date without a sound, and what is over is not shown any more.
      if (item?.kind === 'wait' && (!isNews(item) || item.risk === 'critical')) return now
      const told = item === null || digestMs === null ? now : Math.ceil(item.at / digestMs) * digestMs
      return quietUntil(Math.max(told, now)) ?? told
    },
  }
}

/** The settings' word for what an item is about; null: they have none. */
export function kindOf(item: FeedItem): NotifyKind | null {
  if (item.kind === 'wait') return recordKinds[item.type].notify
  return item.kind === 'session' ? 'session' : null
}
