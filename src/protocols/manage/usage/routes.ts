// Tokens and cost, for operators, and for users what they have left.

import { z } from 'zod'
import { type Clock, isoTime } from '../../../domain/clock.ts'
import { present } from '../../../domain/present.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { DayLimits } from '../../../supervision/oversight/day-limits.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import { type ReadUsage, rounded, type UsageReport } from '../../../supervision/oversight/usage-report.ts'
import { starterOf, viewerOf } from '../../shared/request/caller.ts'
import { decodePage, queryProblem, sessionIn, wordIn } from '../../shared/request/page.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import {
  groups,
  type MyLimits,
  MyLimitsSchema,
  splits,
  type TokenPrice,
  type Usage,
  type UsageCounts,
  UsageSchema,
} from './schema.ts'

export interface UsageRoutesDeps {
  readUsage: ReadUsage
  oversight: Pick<Oversight, 'listing' | 'foreignSession'>
  dayLimits: Pick<DayLimits, 'show' | 'ofOnly'>
  clock: Pick<Clock, 'now'>
}

const MOST_DAYS = 400
const USUAL_DAYS = 30
const DAY_MS = 86_400_000
const PAGE = { max: 1_000, fallback: 100 }

export function createUsageRoutes({ readUsage, oversight, dayLimits, clock }: UsageRoutesDeps): Route[] {
  async function showMine({ principal }: Request, reply: Reply): Promise<void> {
    const { allowed, used, resetsAt, currency } = await dayLimits.show(starterOf(principal))
    const { runs, tokens, cost } = used
    const body: MyLimits = {
      day: dateOf(Math.floor(clock.now() / DAY_MS)),
      resets_at: isoTime(resetsAt),
      runs: { used: runs, allowed: allowed.runs },
      tokens: { used: tokens, allowed: allowed.tokens },
      cost: { used: rounded(cost), allowed: allowed.cost, currency },
    }
    reply.json(200, body)
  }

  async function show(request: Request, reply: Reply): Promise<void> {
    const { from, to } = rangeIn(request.query, clock.now())
    const by = wordIn(request.query, 'by', groups) ?? 'day'
    const { limit } = decodePage(request, PAGE)
    // A session that is gone still has its usage, so only the form of the id is checked.
    const sessionId = sessionIn(request.query, 'Send the id of a session.')
    const viewer = viewerOf(request)
    if (sessionId !== undefined) await oversight.foreignSession(viewer, sessionId)
    // These name sessions and people, so it is a list of what others do.
    else if (by === 'session' || by === 'owner' || request.query.has('owner')) await oversight.listing(viewer, '*')
    const split = wordIn(request.query, 'split', splits)
    if (split !== undefined && by !== 'day') {
      throw queryProblem({ pointer: 'split', detail: 'Only days can be split. Leave out `by`.' })
    }
    const filter = (name: string) => request.query.get(name) || undefined
    const [agent, owner, model] = [filter('agent'), filter('owner'), filter('model')]
    const range = { from, to, ...present({ sessionId, agent, owner, model }) }
    const { rows, total, currency, unpriced, prices } = await readUsage({ ...range, by, limit, ...present({ split }) })
    const body: Usage = {
      from: dateOf(from),
      to: dateOf(to),
      by,
      rows: rows.map(({ key, part, label, ...sums }) => ({ key, ...present({ part }), label, ...countsView(sums) })),
      total: countsView(total),
      limit: await dayLimits.ofOnly(range),
      currency,
      unpriced,
      prices: Object.fromEntries(Object.entries(prices).map(([model, price]) => [model, priceView(price)])),
    }
    reply.json(200, body)
  }

  return [
    {
      ...routeHeads(null, 'operator').get,
      path: '/usage',
      summary: 'Tokens, cost, errors and times',
      describe: () => ({
        tag: 'Usage',
        description:
          'How runs ended, how long they took and what they used of models. Days are in UTC, and a run counts on the day on which it ended. Days come in order, other rows with most tokens first. It outlives sessions: 400 days are kept. Costs come from `prices` in the settings.',
        query: {
          from: z.iso.date().optional().describe('First day. Default: 29 days before `to`.'),
          to: z.iso.date().optional().describe('Last day, at most 400 days in all. Default: today.'),
          by: z.enum(groups).optional().describe('Default: day.'),
          split: z.enum(splits).optional().describe('Rows of each agent or model in a day. For `by=day` only.'),
          session: z.string().optional().describe('Only what the runs of this session used: its id.'),
          agent: z.string().optional().describe('Only the runs of this agent.'),
          model: z.string().optional().describe('Only what this model was used for: `provider/model`.'),
          owner: z.string().optional().describe('Only the runs of this person.'),
          limit: z.coerce
            .number()
            .int()
            .min(1)
            .max(PAGE.max)
            .optional()
            .describe('Most rows but for days; 100 when left out.'),
        },
        responses: { 200: answer('What was used.', UsageSchema) },
        errors: ['invalid_request', 'storage_full', 'storage_failed'],
      }),
      handle: show,
    },
    {
      ...routeHeads(null, 'user').get,
      path: '/me/limits',
      summary: 'What you may use in a day, and what you have used',
      describe: () => ({
        tag: 'Usage',
        description:
          'What `limits.per_day` in the settings allows you, and what you have used today. Beyond it, new runs are refused with `quota_exceeded`; answers to what waits are not.',
        responses: { 200: answer('Your limits.', MyLimitsSchema) },
        errors: ['storage_failed'],
      }),
      handle: showMine,
    },
  ]
}

const countsView = ({ runs, failed, cancelled, p50, p95, cost, ...tokens }: UsageReport['total']): UsageCounts => ({
  runs,
  failed_runs: failed,
  cancelled_runs: cancelled,
  p50_ms: p50,
  p95_ms: p95,
  input_tokens: tokens.input,
  output_tokens: tokens.output,
  cached_input_tokens: tokens.cachedInput,
  cache_write_input_tokens: tokens.cacheWrite,
  reasoning_tokens: tokens.reasoning,
  cost: rounded(cost),
})

const priceView = ({ input, output, cachedInput, cacheWrite }: UsageReport['prices'][string]): TokenPrice => ({
  input,
  output,
  cached_input: cachedInput,
  cache_write: cacheWrite,
})

const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

function rangeIn(query: URLSearchParams, now: number): { from: number; to: number } {
  const to = dayIn(query, 'to') ?? Math.floor(now / DAY_MS)
  const from = dayIn(query, 'from') ?? to - USUAL_DAYS + 1
  if (from > to) throw queryProblem({ pointer: 'from', detail: 'Send a day that is not after `to`.' })
  if (to - from >= MOST_DAYS) {
    throw queryProblem({ pointer: 'from', detail: `Send a range of at most ${MOST_DAYS} days.` })
  }
  return { from, to }
}

function dayIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  // 2026-02-30 would become another day.
  if (Number.isNaN(time) || dateOf(time / DAY_MS) !== text) {
    throw queryProblem({ pointer: name, detail: 'Send a day like 2026-11-15.' })
  }
  return time / DAY_MS
}
