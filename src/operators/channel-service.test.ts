import { describe, expect, test } from 'vitest'
import { silentLogger } from '../domain/logger.ts'
import type { FeedItem } from '../domain/session/feed.ts'
import { createFeed } from '../engine/feed.ts'
import { createTestClock, openLog } from '../log/testing/open-log.ts'
import { createLocalWake } from '../log/wake.ts'
import { create, newSession } from '../store/contract/samples.contract.ts'
import { createChannelService } from './channel-service.ts'
import type { RecordLookup } from './operator.ts'
import { createRecordingChannel } from './testing/recording-channel.ts'
import { startOutbox } from './testing/start-outbox.ts'

const nobody: RecordLookup = {
  find: async () => null,
}

function open(shownFrom = async (_channel: unknown, _item: FeedItem): Promise<number | null> => 0) {
  const clock = createTestClock()
  const wake = createLocalWake({ clock, pollMs: null })
  const { log, store } = openLog({ clock, wake })
  const feed = createFeed({ store: store.feed, wake })
  const channel = createRecordingChannel(nobody)
  const shared = { channels: [channel], feed, store: store.outbox, log }
  const outbox = startOutbox({ ...shared, shownFrom, clock, logger: silentLogger })
  const service = createChannelService({ ...shared, outbox, shownFrom })
  const settle = async () => {
    for (let i = 0; i < 12; i += 1) await clock.advance(2)
  }
  const newSessions = async (count: number) => {
    for (let i = 0; i < count; i += 1) void log.commit(create(newSession()))
    for (let i = 0; i < 1 + count / 20; i += 1) await settle()
  }
  const replay = async (after: number) => {
    const asked = service.replay('recording', after)
    await settle()
    return asked
  }
  return { channel, service, settle, newSessions, replay, clock }
}

describe('the service of the channels', () => {
  test('says what waits, what was missed and when something was shown', async () => {
    const { channel, service, settle, newSessions } = open()
    await settle()
    const idle = {
      name: 'recording',
      title: 'recording',
      surface: 'remote',
      isSetUp: true,
      waiting: 0,
      missed: 0,
      trouble: null,
    }
    expect(await service.list()).toEqual([{ ...idle, lastShownAt: null }])
    await newSessions(1)
    const [shown] = await service.list()
    expect(shown).toEqual({ ...idle, lastShownAt: expect.any(Number) })
    channel.behave(...Array.from({ length: 300 }, () => 'hangs' as const))
    await newSessions(300)

    expect(await service.list()).toEqual([{ ...idle, waiting: 256, missed: 44, lastShownAt: shown?.lastShownAt }])
  })

  test('shows once more what a channel has shown, with the same numbers', async () => {
    const { channel, settle, newSessions, replay } = open(async (_, { n }) => (n === 4 ? null : 0))
    await settle()
    await newSessions(5)
    expect(channel.tries).toEqual([1, 2, 3, 5])

    expect(await replay(2)).toEqual({ replayed: 2, upTo: 5, hasMore: false })
    await settle()
    expect(channel.tries).toEqual([1, 2, 3, 5, 3, 5])
    expect(await replay(5)).toEqual({ replayed: 0, upTo: 5, hasMore: false })
  })

  test('shows no more at once than there is room for, and says where to go on', async () => {
    const { channel, settle, newSessions, replay } = open()
    await settle()
    await newSessions(300)
    channel.behave(...Array.from({ length: 8 }, () => 'hangs' as const))

    expect(await replay(0)).toEqual({ replayed: 256, upTo: 256, hasMore: true })
    expect(await replay(256)).toEqual({ replayed: 0, upTo: 256, hasMore: true })
  })

  test('knows no other channel, and no number that was never given out', async () => {
    const { service, settle } = open()
    await settle()

    await expect(service.replay('slack', 0)).rejects.toMatchObject({ code: 'record_not_found' })
    await expect(service.replay('recording', 99)).rejects.toMatchObject({ code: 'events_gone' })
  })
})
