// The ways to reach operators, for operators: how they are doing, and what they should show once more.

import { z } from 'zod'
import type { ChannelState, Replay } from '../../../domain/supervision/channel-state.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { sameFields } from '../../shared/same-fields.ts'
import { feedId, parseCursor } from '../events/feed-view.ts'
import { feedTag } from '../events/routes.ts'
import { decodeBody } from '../supervision/decode.ts'
import { type Channel, ChannelSchema, type Replayed, ReplayedSchema, ReplaySchema } from './schema.ts'

interface ChannelRoutesDeps {
  channelService: {
    list(): Promise<ChannelState[]>
    replay(name: string, after: number): Promise<Replay>
  }
}

export function createChannelRoutes({ channelService }: ChannelRoutesDeps): Route[] {
  async function list(_request: Request, reply: Reply): Promise<void> {
    reply.json(200, { channels: (await channelService.list()).map(channelView) })
  }

  async function replay(request: Request, reply: Reply): Promise<void> {
    const { after } = await decodeBody(request, ReplaySchema)
    const { name = '' } = request.params
    const { replayed, upTo, hasMore } = await channelService.replay(name, parseCursor(after).feed)
    request.log.info('items are shown once more', { channel: name, after, replayed })
    const body: Replayed = { replayed, cursor: feedId(upTo), has_more: hasMore }
    reply.json(202, body)
  }

  const { get, post } = routeHeads(null, 'operator')
  return [
    {
      ...get,
      path: '/channels',
      summary: 'List the channels to operators',
      describe: () => ({
        tag: feedTag,
        description: 'The channels to operators that this server was started with.',
        responses: { 200: answer('The channels.', z.strictObject({ channels: z.array(ChannelSchema) })) },
        errors: ['storage_failed'],
      }),
      handle: list,
    },
    {
      ...post,
      path: '/channels/:name/replay',
      summary: 'Show items once more in a channel',
      describe: () => ({
        tag: feedTag,
        description:
          'For a receiver of webhooks that has lost something. The messages have the ids that they had, so a receiver can drop those that it knows. At most 256 wait at the same time: if `has_more` is true, go on later from `cursor`.',
        params: { name: z.string().describe('Name of the channel.') },
        body: { schema: ReplaySchema, examples: { since: { after: 'f.12' } } },
        responses: { 202: answer('They are on their way.', ReplayedSchema) },
        errors: [
          'invalid_request',
          'malformed_id',
          'record_not_found',
          'events_gone',
          'storage_full',
          'storage_failed',
        ],
      }),
      handle: replay,
    },
  ]
}

const sameOfChannel = sameFields<ChannelState, typeof ChannelSchema.shape>(ChannelSchema.shape)
export const channelView = (channel: ChannelState): Channel => ({ ...sameOfChannel(channel), set_up: channel.isSetUp })
