// The ways to reach operators, for operators: how they are doing, and what they should show once more.

import { z } from 'zod'
import type { ChannelState, Replay } from '../../../domain/channel-state.ts'
import { isoTime } from '../../../domain/clock.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { feedId, parseCursor } from '../events/cursor.ts'
import { feedTag } from '../events/describe.ts'
import { decodeBody } from '../supervision/decode.ts'

interface ChannelRoutesDeps {
  channelDesk: {
    list(): Promise<ChannelState[]>
    replay(name: string, after: number): Promise<Replay>
  }
}

const ChannelSchema = z
  .strictObject({
    name: z
      .string()
      .describe('Its kind, and whom or what it reaches: `slack:C012AB3CD`, `push:ada` or `webhook:pager`.'),
    title: z.string().describe('What people call channels of its kind, such as Slack.'),
    surface: z.enum(['local', 'remote']),
    set_up: z.boolean().describe('False: it reaches nobody yet, such as Web Push before a browser has subscribed.'),
    waiting: z.number().int().describe('Items that wait to be shown.'),
    missed: z.number().int().describe('Items that it could not show one by one, and has not summed up yet.'),
    last_shown_at: z.iso.datetime().nullable().describe('When it last showed something; null: not since the start.'),
    trouble: z.string().nullable().describe('Why nobody is reached there just now; null: it works.'),
  })
  .meta({ id: 'Channel' })

const ReplaySchema = z.strictObject({
  after: z
    .string()
    .max(64)
    .describe('The id of a feed item, such as `f.12`: what the channel has shown after it is shown once more.'),
})

const example = {
  name: 'webhook:pager',
  title: 'Webhooks',
  surface: 'remote',
  set_up: true,
  waiting: 3,
  missed: 0,
  last_shown_at: '2026-11-15T09:00:00.000Z',
  trouble: null,
}

const describeList: RouteDescription = {
  tag: feedTag,
  description: 'The channels to operators that this server was started with.',
  responses: {
    200: {
      description: 'The channels.',
      content: {
        'application/json': {
          schema: z.strictObject({ channels: z.array(ChannelSchema) }),
          example: { channels: [example] },
        },
      },
    },
  },
  errors: ['storage_failed'],
}

const describeReplay: RouteDescription = {
  tag: feedTag,
  description:
    'For a receiver of webhooks that has lost something. The messages have the ids that they had, so a receiver can drop those that it knows. At most 256 wait at the same time: if `has_more` is true, go on later from `cursor`.',
  params: { name: z.string().describe('Name of the channel.') },
  body: { schema: ReplaySchema, examples: { since: { after: 'f.12' } } },
  responses: {
    202: {
      description: 'They are on their way.',
      content: {
        'application/json': {
          schema: z.strictObject({
            replayed: z.number().int().describe('How many items are shown once more.'),
            cursor: z.string(),
            has_more: z.boolean(),
          }),
          example: { replayed: 7, cursor: 'f.21', has_more: false },
        },
      },
    },
  },
  errors: ['invalid_request', 'malformed_id', 'record_not_found', 'events_gone', 'storage_full', 'storage_failed'],
}

export function createChannelRoutes({ channelDesk }: ChannelRoutesDeps): Route[] {
  async function list(_request: Request, reply: Reply): Promise<void> {
    reply.json(200, { channels: (await channelDesk.list()).map(channelView) })
  }

  async function replay(request: Request, reply: Reply): Promise<void> {
    const { after } = await decodeBody(request, ReplaySchema)
    const { name = '' } = request.params
    const { replayed, upTo, hasMore } = await channelDesk.replay(name, parseCursor(after).feed)
    request.log.info('items are shown once more', { channel: name, after, replayed })
    reply.json(202, { replayed, cursor: feedId(upTo), has_more: hasMore })
  }

  const shared = { door: null, role: 'operator' } as const
  return [
    {
      ...shared,
      method: 'GET',
      path: '/channels',
      body: 'none',
      summary: 'List the channels to operators',
      describe: describeList,
      handle: list,
    },
    {
      ...shared,
      method: 'POST',
      path: '/channels/:name/replay',
      body: 'control',
      summary: 'Show items once more in a channel',
      describe: describeReplay,
      handle: replay,
    },
  ]
}

export const channelView = ({
  name,
  title,
  surface,
  isSetUp,
  waiting,
  missed,
  lastShownAt,
  trouble,
}: ChannelState) => ({
  name,
  title,
  surface,
  set_up: isSetUp,
  waiting,
  missed,
  last_shown_at: lastShownAt === null ? null : isoTime(lastShownAt),
  trouble,
})
