// What one operator is told, and from when on. Pure: channels to single people (ntfy, Web Push) ask it for each item of the feed.

import type { NotifyKind } from '../../domain/channel-settings.ts'
import type { FeedItem } from '../../domain/feed.ts'
import type { EscalationSettings, OperatorSettings } from '../../domain/supervision-settings.ts'
import { configuredOperators } from '../../supervision/sessions/configured-operators.ts'
import { isNews } from '../notice/notice.ts'
import { createQuietUntil } from './quiet-until.ts'

export interface PersonRules {
  /** Whether the person is ever told about it. */
  concerns(item: FeedItem): boolean
  /** Epoch ms before which they are not told; a time that is over means at once. Null: about a summary. */
  notBefore(item: FeedItem | null, now: number): number
}

export interface PersonRulesOptions {
  person: OperatorSettings
  operators: readonly OperatorSettings[]
  escalation: readonly EscalationSettings[]
  /** Whether an agent of this name runs on this server. Every operator is asked what such an agent asks. */
  isOurAgent(name: string): boolean
}

export function createPersonRules(options: PersonRulesOptions): PersonRules {
  const { kinds, quietHours, digestMs } = options.person.notify
  const quietUntil = quietHours === null ? () => null : createQuietUntil(quietHours)
  return {
    concerns(item) {
      const kind = kindOf(item)
      if (kind === null || !kinds.includes(kind)) return false
      // Every conversation with an agent of ours is a session. Nobody wants to hear of each.
      if (kind === 'session' && options.isOurAgent(item.agent)) return false
      return askedFrom(item, options) !== null
    },
    notBefore(item, now) {
      if (item === null) return quietUntil(now) ?? now
      // A message that is there already is brought up to date without a sound, and what is over is not shown any more.
      if (item.kind === 'wait' && !isNews(item)) return now
      const asked = askedFrom(item, options) ?? item.at
      if (item.kind === 'wait' && item.risk === 'critical') return asked
      const told = digestMs === null ? asked : Math.ceil(asked / digestMs) * digestMs
      return quietUntil(Math.max(told, now)) ?? told
    },
  }
}

/**
 * Epoch ms from which on a person is asked, or null: never. An agent elsewhere asks its owner, and later those whom the escalation names.
 * If the owner is not among the operators any more, it asks everybody: nobody else would answer.
 */
export function askedFrom(
  { owner, agent, at, kind }: Pick<FeedItem, 'owner' | 'agent' | 'at' | 'kind'>,
  { person, operators, escalation, isOurAgent }: PersonRulesOptions,
): number | null {
  if (isOurAgent(agent)) return at
  const { personOf = (name: string) => name } = configuredOperators(operators)
  const ownerName = personOf(owner)
  if (ownerName === person.name || !operators.some(({ name }) => name === ownerName)) return at
  if (kind === 'session') return null
  const step = escalation.find(({ to }) => to.some((name) => name === person.name || name === person.group))
  return step === undefined ? null : at + step.afterMs
}

/** The settings' word for what an item is about; null: they have none. */
export function kindOf(item: FeedItem): NotifyKind | null {
  if (item.kind !== 'wait') return item.kind === 'session' ? 'session' : null
  switch (item.type) {
    case 'instruction':
      return 'wait'
    case 'alert':
      return 'stall'
    default:
      return item.type
  }
}
