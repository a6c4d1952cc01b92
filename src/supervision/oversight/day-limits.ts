// What a user may use in a day, and what they have used. Days are in UTC, as those of `/usage`.
//
// Runs are counted when they are taken, and by all processes together. Tokens and cost are known when a run ends, so what is running does
// not count yet. They are read for all users at once and a few seconds old: a user may go past these limits by what runs at the time.

import { costOfTokens, type PriceSettings } from '../../domain/agent/prices.ts'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import type { DayLimit, DayLimitSettings } from '../../domain/settings/identity-settings.ts'
import type { Admit, Starter } from '../../engine/ports/runs.ts'
import type { Shared } from '../../store/ports/shared.ts'
import { dayOf, type UsageRange, type UsageReads } from '../../store/ports/usage.ts'

export interface DayLimits {
  admit: Admit
  show(who: Pick<Starter, 'owner' | 'groups'>): Promise<DayUse>
  /** What the only person who used something in this range may use in a day, as far as no group says more. Null: there are several, or no limits. */
  ofOnly(range: UsageRange): Promise<({ owner: string } & DayLimit) | null>
}

export interface DayUse {
  allowed: DayLimit
  /** `cost` is null if a model without a price was used. */
  used: { runs: number; tokens: number; cost: number | null }
  /** Epoch ms: the next day. */
  resetsAt: number
  currency: string
}

interface DayLimitsDeps {
  limits: DayLimitSettings
  prices: PriceSettings
  usage: Pick<UsageReads, 'sums'>
  /** Counts the runs of all processes. */
  shared: Pick<Shared, 'count'>
  /** Whether the counter outlives this process. */
  isKept: boolean
  clock: Clock
  logger: Logger
}

type Used = DayUse['used']

const DAY_MS = 86_400_000
const FRESH_MS = 5_000
/** A store that takes long to answer is asked less often: at most this part of the time. */
const PART_OF_TIME = 20
const MOST_OWNERS = 1_000_000
const NOTHING: Used = { runs: 0, tokens: 0, cost: 0 }
const KIND = 'runs_of_day'

export function createDayLimits(deps: DayLimitsDeps): DayLimits {
  const { limits, prices, usage, shared, isKept, clock, logger } = deps
  const limitOf = (owner: string, groups: readonly string[]) => limitIn(limits, owner, groups)
  let known = { day: -1, staleAt: 0, byOwner: new Map<string, Used>() }
  let reading: Promise<void> | null = null
  /** What ran before this process began to count. The store also has a run for each answer that a person gave, so it is asked once. */
  let earlier: Pick<typeof known, 'day' | 'byOwner'> | null = isKept ? known : null

  async function read(day: number): Promise<void> {
    const began = clock.mono()
    const byOwner = new Map<string, Used>()
    for (const sum of await usage.sums({ from: day, to: day, by: 'owner', limit: MOST_OWNERS })) {
      const { runs, tokens, cost } = byOwner.get(sum.key) ?? NOTHING
      const added = costOfTokens(prices, sum)
      byOwner.set(sum.key, {
        runs: runs + sum.runs,
        tokens: tokens + sum.input + sum.output,
        cost: added === null || cost === null ? null : cost + added,
      })
    }
    const took = clock.mono() - began
    known = { day, staleAt: clock.mono() + Math.max(FRESH_MS, took * PART_OF_TIME), byOwner }
    earlier ??= known
  }

  /** What was stored a few seconds ago. Whoever comes after a long pause waits for it, so that a quiet day has limits too. */
  async function storedOf(owner: string, day: number): Promise<Used> {
    if (known.day !== day || clock.mono() >= known.staleAt) {
      reading ??= read(day).finally(() => {
        reading = null
      })
      if (known.day !== day || clock.mono() >= known.staleAt + FRESH_MS) await reading
      else reading.catch((error: unknown) => logger.warn('what users have used could not be read', { error }))
    }
    return known.byOwner.get(owner) ?? NOTHING
  }

  const runsBefore = (owner: string, day: number): number =>
    earlier?.day === day ? (earlier.byOwner.get(owner)?.runs ?? 0) : 0

  async function countRuns(owner: string, day: number, n: number): Promise<number> {
    // The day is in the key, so it does not matter when a window begins.
    const [counted] = await shared.count(KIND, [{ key: `${day} ${owner}`, n }], DAY_MS)
    return counted?.count ?? 0
  }

  return {
    async admit({ owner, groups = [] }) {
      const allowed = limitOf(owner, groups)
      if (allowed.runs === null && allowed.tokens === null && allowed.cost === null) return () => {}
      const now = clock.now()
      const day = dayOf(now)
      // It counts before it is taken, so that requests that come together, here or elsewhere, see each other.
      const counted = await countRuns(owner, day, 1)
      const takeBack = () =>
        void countRuns(owner, day, -1).catch((error: unknown) =>
          logger.warn('a run that was not taken still counts for its user', { user: owner, error }),
        )
      try {
        const stored = await storedOf(owner, day)
        const before = runsBefore(owner, day) + counted - 1
        // Others that come together and are refused count for a moment: the counter says whether there is any left, not what was used.
        const runs = allowed.runs === null ? before : Math.min(before, Math.max(allowed.runs, runsBefore(owner, day)))
        refuse({ ...stored, runs }, allowed, prices.currency, now)
      } catch (error) {
        takeBack()
        throw error
      }
      return (isTaken) => {
        if (!isTaken) takeBack()
      }
    },

    async ofOnly(range) {
      if (!limitsAnybody(limits)) return null
      const found = await usage.sums({ ...range, by: 'owner', limit: 2 })
      const [owner, ...others] = new Set(range.owner === undefined ? found.map(({ key }) => key) : [range.owner])
      return owner === undefined || others.length > 0 ? null : { owner, ...limitOf(owner, []) }
    },

    async show({ owner, groups = [] }) {
      const day = dayOf(clock.now())
      const counted = await countRuns(owner, day, 0)
      const stored = await storedOf(owner, day)
      const used = { ...stored, runs: runsBefore(owner, day) + counted }
      return { allowed: limitOf(owner, groups), used, resetsAt: (day + 1) * DAY_MS, currency: prices.currency }
    },
  }
}

/** False: everybody may begin as much as they like. */
export const limitsAnybody = ({ default: all, groups, users }: DayLimitSettings): boolean =>
  [all, ...Object.values(groups), ...Object.values(users)].some((limit) =>
    Object.values(limit).some((most) => most !== null),
  )

/** A user's own entry wins, then the highest of their groups, then the default; each for runs, tokens and cost on its own. */
function limitIn({ default: all, groups, users }: DayLimitSettings, owner: string, own: readonly string[]): DayLimit {
  const ofUser = Object.hasOwn(users, owner) ? users[owner] : undefined
  const ofGroups = own.flatMap((group) => (Object.hasOwn(groups, group) ? (groups[group] ?? []) : []))
  const one = (key: keyof DayLimit): number | null => {
    const named = ofUser?.[key]
    if (named !== undefined) return named
    const found = ofGroups.flatMap((limit) => limit[key] ?? (limit[key] === null ? [Number.POSITIVE_INFINITY] : []))
    const most = found.length === 0 ? (all[key] ?? null) : Math.max(...found)
    return most === Number.POSITIVE_INFINITY ? null : most
  }
  return { runs: one('runs'), tokens: one('tokens'), cost: one('cost') }
}

/** Throws `quota_exceeded`. A cost that nobody knows is not refused: the settings have no price for a model. */
function refuse(used: Used, allowed: DayLimit, currency: string, now: number): void {
  const words = { runs: 'runs', tokens: 'tokens', cost: currency } as const
  for (const limit of ['runs', 'tokens', 'cost'] as const) {
    const [most, spent] = [allowed[limit], used[limit]]
    if (most === null || spent === null || spent < most) continue
    const resetsAt = (dayOf(now) + 1) * DAY_MS
    const shown = Number(spent.toFixed(6))
    throw new ServerError(
      'quota_exceeded',
      `You have used ${shown} of ${most} ${words[limit]} for today. It starts again at ${new Date(resetsAt).toISOString()}. What waits for an answer can still be answered.`,
      {
        details: {
          limit,
          used: shown,
          allowed: most,
          resets_at: new Date(resetsAt).toISOString(),
          retry_after_seconds: Math.ceil((resetsAt - now) / 1000),
        },
      },
    )
  }
}
