import { describe, expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../../domain/logger.ts'
import { createChannelService } from '../../../operators/channel-service.ts'
import { createRecordingChannel } from '../../../operators/testing/recording-channel.ts'
import { startOutbox } from '../../../operators/testing/start-outbox.ts'
import { asAda, asOperator, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { createChannelRoutes } from './routes.ts'

const openWithChannel = () =>
  openDoors({}, ({ approvals, feed, store, log, clock }) => {
    const channel = createRecordingChannel({ approvals, find: async () => null }, { name: 'webhook:pager' })
    const shared = { channels: [channel], feed, store: store.outbox, log }
    const outbox = startOutbox({ ...shared, clock, logger: silentLogger })
    onTestFinished(() => outbox.close())
    return createChannelRoutes({
      channelService: createChannelService({ ...shared, outbox, shownFrom: async () => 0 }),
    })
  })

describe('the routes of channels', () => {
  test('list them and show items once more', async () => {
    await using doors = await openWithChannel()
    const listed = await doors.get('/channels', asOperator)

    expect(await listed.json()).toEqual({
      channels: [
        {
          name: 'webhook:pager',
          title: 'Webhooks',
          surface: 'remote',
          set_up: true,
          waiting: 0,
          missed: 0,
          last_shown_at: null,
          trouble: null,
        },
      ],
    })
    const replayed = await doors.post('/channels/webhook:pager/replay', { after: 'f.0' }, asOperator)
    expect([replayed.status, await replayed.json()]).toEqual([202, { replayed: 0, cursor: 'f.0', has_more: false }])
  })

  test.each([
    ['/channels/webhook:pager/replay', { after: 'yesterday' }, 400, 'malformed_id'],
    ['/channels/webhook:pager/replay', { after: 'f.99' }, 410, 'events_gone'],
    ['/channels/webhook:pager/replay', {}, 400, 'invalid_request'],
    ['/channels/slack/replay', { after: 'f.0' }, 404, 'record_not_found'],
  ])('refuse %s with %o', async (path, body, status, code) => {
    await using doors = await openWithChannel()

    expect(await refusalOf(await doors.post(path, body, asOperator))).toEqual({ status, code })
  })

  test('are for operators', async () => {
    await using doors = await openWithChannel()
    const answers = [
      await doors.get('/channels', asAda),
      await doors.post('/channels/webhook:pager/replay', { after: 'f.0' }, asAda),
      await doors.get('/channels'),
    ]

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 401])
  })
})
