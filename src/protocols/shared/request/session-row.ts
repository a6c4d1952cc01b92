import { z } from 'zod'
import { isoTime } from '../../../domain/clock.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { type SessionOverview, sessionActivities, sessionKinds } from '../../../domain/session/session-overview.ts'

/** What every list of sessions shows of one. */
export const SessionRowShape = {
  owner: z.string(),
  agent: z.string().describe('The agent, or the host of an agent elsewhere.'),
  title: z
    .string()
    .describe(
      'What a person named it, else the first words of the first message, or the title of an agent elsewhere. Hidden characters are marked.',
    ),
  kind: z
    .enum(sessionKinds)
    .describe('`supervised`: the program of a coding agent works in it, elsewhere or hosted by this server.'),
  hosted: z.literal(true).exactOptional().describe('This server runs the program, so the session takes messages.'),
  status: z
    .enum(sessionActivities)
    .describe(
      '`waiting`: for a person or a client. `failed`: the last run failed, and nothing runs or waits. `ended`: only of an agent elsewhere. Everything else is `open`.',
    ),
  failure: z.string().exactOptional().describe('The first words of why the last run failed.'),
  updated_at: z.iso.datetime({ precision: 3 }),
  pending: z.int().min(0).describe('How many records wait for an answer.'),
  tokens: z.int().min(0).describe('What its runs have used, as the models reported it.'),
  cost: z
    .number()
    .nullable()
    .exactOptional()
    .describe('In the currency of the settings. null: it used a model without a price. Only in lists of sessions.'),
}

/** The id of the session that its client knows. */
export const clientIdOf = ({ alias, id }: Pick<SessionRecord, 'alias' | 'id'>): string => alias ?? id

/** The name that its client chose is only for its owner. */
export const shownIdOf = (session: SessionRecord, viewer: string): string =>
  session.owner === viewer ? clientIdOf(session) : session.id

/** A time in a query. */
export const TimeSchema = z.union([z.iso.datetime({ offset: true }), z.iso.date()])

/** A session that was deleted a moment ago has no overview any more. */
export function sessionRow(session: SessionRecord, overview: SessionOverview | undefined) {
  return {
    owner: session.owner,
    agent: session.agent,
    title: overview?.title ?? '',
    kind: session.supervision === undefined ? ('chat' as const) : ('supervised' as const),
    ...(session.supervision?.hosted === undefined ? {} : { hosted: true as const }),
    status: overview?.activity ?? ('open' as const),
    updated_at: isoTime(session.lastActivity),
    ...(overview?.activity === 'failed' ? { failure: overview.failure ?? '' } : {}),
    pending: overview?.pending ?? 0,
    tokens: overview?.tokens ?? 0,
  }
}
