import { describe, expect, onTestFinished, test } from 'vitest'
import { ServerError } from '../domain/errors.ts'
import { silentLogger } from '../domain/logger.ts'
import type { Approval } from '../domain/records/record.ts'
import type { FeedItem } from '../domain/session/feed.ts'
import { createFeed } from '../engine/feed.ts'
import { createJobs } from '../engine/sessions/jobs.ts'
import { createTestClock, openLog } from '../log/testing/open-log.ts'
import { createLocalWake } from '../log/wake.ts'
import { createSharedChanges } from '../replicas/shared-changes.ts'
import { accept, create, finish, newApproval, newSession } from '../store/contract/samples.contract.ts'
import { createLocalShared } from '../store/local-shared.ts'
import { FEED_MS } from '../store/ports/feed.ts'
import type { Shared } from '../store/ports/shared.ts'
import { DeliveryFailed, type OperatorChannel, type RecordLookup } from './operator.ts'
import { createRecordingChannel } from './testing/recording-channel.ts'
import { type OutboxParts, startOutbox } from './testing/start-outbox.ts'

const lookup: RecordLookup = {
  find: async () => null,
}

function openOutbox(concerns?: (item: FeedItem) => boolean) {
  const clock = createTestClock()
  const wake = createLocalWake({ clock, pollMs: null })
  const { log, store } = openLog({ clock, wake })
  const open = () => {
    const feed = createFeed({ store: store.feed, wake })
    const channel = createRecordingChannel(lookup, concerns === undefined ? {} : { concerns })
    const outbox = startOutbox({ channels: [channel], feed, store: store.outbox, log, clock, logger: silentLogger })
    const close = async () => {
      feed.close()
      const closed = outbox.close()
      await clock.advance(10)
      await closed
    }
    onTestFinished(close)
    return { channel, close }
  }
  /** A channel with further parts of the outbox. */
  const openWith = (more: Partial<OutboxParts>, change = (channel: OperatorChannel): OperatorChannel => channel) => {
    const feed = createFeed({ store: store.feed, wake })
    const channel = createRecordingChannel(lookup)
    const channels = [change(channel)]
    const outbox = startOutbox({ channels, feed, store: store.outbox, log, clock, logger: silentLogger, ...more })
    onTestFinished(async () => {
      feed.close()
      const closed = outbox.close()
      await clock.advance(10)
      await closed
    })
    return { channel, outbox }
  }
  /** Lets everything happen that needs no more than some milliseconds. */
  const settle = async () => {
    for (let i = 0; i < 12; i += 1) await clock.advance(2)
  }
  const newSessions = async (count: number, values = {}) => {
    for (let i = 0; i < count; i += 1) void log.commit(create(newSession(values)))
    await settle()
  }
  return { clock, log, store, open, openWith, settle, newSessions }
}

/** An approval of a new session, which somebody is asked for. */
async function waitingApproval(
  log: ReturnType<typeof openOutbox>['log'],
  settle: () => Promise<void>,
  session: Partial<ReturnType<typeof newSession>> = {},
): Promise<Approval> {
  const taken = log.commit(accept(newSession(session)))
  await settle()
  const run = (await taken).run ?? expect.fail('the run was not taken')
  const approval = newApproval(run)
  void log.commit(finish(run, { status: 'waiting', waits: [approval] }))
  await settle()
  return approval
}

describe('the outbox', () => {
  test('brings what happens from now on to a new channel, and then it is in the store that it was told', async () => {
    const { open, settle, newSessions, store } = openOutbox()
    await newSessions(2)
    const { channel } = open()
    await settle()
    await newSessions(3)

    expect(channel.messages()).toEqual(['session active', 'session active', 'session active'])
    expect([await store.outbox.cursor('recording'), await store.outbox.deliveries('recording')]).toEqual([5, []])
  })

  test('brings what waits already to a new channel, and only that', async () => {
    const { openWith, settle, newSessions, log, store } = openOutbox()
    const taken = log.commit(accept(newSession()))
    await settle()
    const run = (await taken).run ?? expect.fail('the run was not taken')
    const [over, waits] = [newApproval(run), newApproval(run)]
    void log.commit(finish(run, { status: 'waiting', waits: [over, waits] }))
    await settle()
    const { channel } = openWith({ stillWaits: async ({ id }) => id === waits.id })
    await settle()
    await newSessions(1)

    expect(channel.messages()).toEqual(['wait pending', 'session active'])
    expect(await store.outbox.cursor('recording')).toBe(await store.feed.head())
  })

  test('begins with what waits when a channel is set up, and costs nothing before', async () => {
    const { openWith, settle, newSessions, store } = openOutbox()
    let isSetUp = false
    const { channel, outbox } = openWith({ stillWaits: async () => true }, (one) => ({
      ...one,
      isSetUp: () => isSetUp,
    }))
    await newSessions(2)
    expect(await store.outbox.cursor('recording')).toBe(null)
    outbox.look('recording')
    await settle()
    expect(await store.outbox.cursor('recording')).toBe(null)
    isSetUp = true
    outbox.look('recording')
    await settle()
    await newSessions(1)

    expect(channel.messages()).toEqual(['session active'])
  })

  test('holds what a channel shows later, and shows together what is due then', async () => {
    const { openWith, settle, newSessions, clock } = openOutbox()
    const together: number[][] = []
    let opensAt = Number.POSITIVE_INFINITY
    openWith({ shownFrom: async () => 5 }, (channel) => ({
      ...channel,
      notBefore: () => opensAt,
      async deliverTogether(deliveries) {
        together.push(deliveries.map(({ n }) => n))
        return new Map()
      },
    }))
    await settle()
    await newSessions(3)
    expect(together).toEqual([])
    opensAt = clock.now() + 60_000
    await newSessions(1)
    await clock.advance(60_000)
    await settle()
    await newSessions(1)

    expect(together).toEqual([[1, 2, 3, 4], [5]])
  })

  test('asks the channel what concerns it', async () => {
    const { open, settle, newSessions, log } = openOutbox(({ kind }) => kind === 'run')
    const { channel } = open()
    await settle()
    await newSessions(2)
    void log.commit(accept(newSession()))
    await settle()

    expect(channel.messages()).toEqual(['run running'])
  })

  test('keeps the order of a session, one at a time, while other sessions go on', async () => {
    const { open, settle, newSessions, log, clock } = openOutbox(({ kind }) => kind !== 'wait')
    const { channel } = open()
    await settle()
    channel.behave('fails')
    const taken = log.commit(accept(newSession()))
    await settle()
    const { run } = await taken
    void log.commit(finish(run ?? expect.fail('the run was not taken')))
    await settle()
    await newSessions(1)
    expect([channel.messages(), channel.tries]).toEqual([['session active'], [1, 4]])
    channel.behave('fails')
    await clock.advance(1_000)
    await settle()
    expect(channel.tries).toEqual([1, 4, 1])
    await clock.advance(2_000)
    await settle()

    expect(channel.tries).toEqual([1, 4, 1, 1, 2, 3])
    expect(channel.messages()).toEqual(['session active', 'session active', 'run running', 'run completed'])
    expect(channel.mostAtOnce()).toBe(1)
  })

  test('waits as long as the service asks', async () => {
    const { open, settle, newSessions, clock } = openOutbox()
    const { channel } = open()
    await settle()
    channel.behave({ retryAfterMs: 60_000 })
    await newSessions(1)
    await clock.advance(59_000)
    expect(channel.tries.length).toBe(1)
    await clock.advance(1_000)
    await settle()

    expect([channel.tries.length, channel.messages()]).toEqual([2, ['session active']])
  })

  test('gives a service that never answers half a minute, then tries again', async () => {
    const { open, settle, newSessions, clock } = openOutbox()
    const { channel } = open()
    await settle()
    channel.behave('hangs')
    await newSessions(1)
    await clock.advance(30_000)
    await settle()
    expect(channel.messages()).toEqual([])
    await clock.advance(1_000)
    await settle()

    expect(channel.messages()).toEqual(['session active'])
  })

  test('counts what can never be shown', async () => {
    const { open, settle, newSessions } = openOutbox()
    const { channel } = open()
    await settle()
    channel.behave('refuses')
    await newSessions(1)

    expect(channel.messages()).toEqual(['1 more'])
  })

  test('shows everything once after a restart, also what happened meanwhile', async () => {
    const { open, settle, newSessions, store, clock } = openOutbox()
    const first = open()
    await settle()
    first.channel.behave('fails', 'hangs')
    await newSessions(2)
    expect((await store.outbox.deliveries('recording')).length).toBe(2)
    await first.close()
    await newSessions(1)
    const second = open()
    await settle()
    await clock.advance(1_000)
    await settle()

    expect(first.channel.messages()).toEqual([])
    expect([...second.channel.tries].sort()).toEqual([1, 2, 3])
    expect(second.channel.messages().length).toBe(3)
    expect(await store.outbox.deliveries('recording')).toEqual([])
  })

  test('sums up what a channel that is down for long cannot show one by one', async () => {
    const { open, settle, newSessions, clock } = openOutbox()
    const { channel } = open()
    await settle()
    channel.behave(...Array.from({ length: 8 }, () => 'hangs' as const))
    await newSessions(300)
    await clock.advance(31_000)
    for (let i = 0; i < 20; i += 1) await settle()

    const messages = channel.messages()
    expect(messages.filter((text) => text === 'session active').length).toBe(256)
    expect(messages.filter((text) => text !== 'session active')).toEqual(['44 more'])
  })

  test('says how much it has missed when the feed no longer has it', async () => {
    const { open, settle, newSessions, log, clock } = openOutbox()
    const first = open()
    await settle()
    await first.close()
    await newSessions(4, { createdAt: 1 })
    await newSessions(1, { createdAt: 2 * FEED_MS })
    const purge = { type: 'purge_sessions', before: null, unlistedBefore: 0, unsentBefore: 0, limit: 10 } as const
    void log.commit({ ...purge, now: 2 * FEED_MS })
    await settle()
    const { channel } = open()
    await settle()
    await clock.advance(1_000)
    await newSessions(1)

    expect(channel.messages()).toEqual(['5 more', 'session active'])
  })

  test('shows what still waits when the feed no longer has all that it has missed', async () => {
    const { openWith, open, settle, newSessions, log, clock } = openOutbox()
    const first = open()
    await settle()
    await first.close()
    await newSessions(4, { createdAt: 1 })
    const { id } = await waitingApproval(log, settle, { createdAt: 2 * FEED_MS })
    const purge = { type: 'purge_sessions', before: null, unlistedBefore: 0, unsentBefore: 0, limit: 10 } as const
    void log.commit({ ...purge, now: 2 * FEED_MS })
    await settle()
    const { channel } = openWith({ stillWaits: async (item) => item.id === id })
    await settle()
    await clock.advance(1_000)
    await settle()

    expect(channel.messages().toSorted()).toEqual(['7 more', 'wait pending'])
  })

  test('shows by itself what still waits of a summary, as soon as there is room', async () => {
    const { openWith, settle, newSessions, log, clock, store } = openOutbox()
    const shown: string[] = []
    const waiting = new Set<string>()
    const { channel } = openWith({ stillWaits: async (item) => waiting.has(item.id) }, (one) => ({
      ...one,
      concerns: ({ kind }) => kind !== 'run',
      deliver: async (delivery, signal) => {
        const ref = await one.deliver(delivery, signal)
        if (delivery.item?.kind === 'wait') shown.push(delivery.item.id)
        return ref
      },
    }))
    await settle()
    channel.behave(...Array.from({ length: 8 }, () => 'hangs' as const))
    await newSessions(300)
    const over = await waitingApproval(log, settle)
    const open = await waitingApproval(log, settle)
    waiting.add(open.id)
    await clock.advance(31_000)
    for (let i = 0; i < 20; i += 1) await settle()

    expect(channel.messages().filter((text) => text.endsWith('more'))).toEqual(['48 more'])
    expect([shown, shown.includes(over.id)]).toEqual([[open.id], false])
    expect(await store.outbox.deliveries('recording')).toEqual([])
  })

  test('does not try for ever to show what a channel refuses', async () => {
    const { openWith, settle, newSessions, log, clock } = openOutbox()
    let tries = 0
    openWith({ stillWaits: async () => true }, (one) => ({
      ...one,
      deliver(delivery, signal) {
        if (delivery.item?.kind !== 'wait') return one.deliver(delivery, signal)
        tries += 1
        return Promise.reject(new DeliveryFailed('The service will never take this.', { giveUp: true }))
      },
    }))
    await settle()
    await waitingApproval(log, settle)
    for (let i = 0; i < 5; i += 1) await clock.advance(31_000)
    await newSessions(1)

    expect(tries).toBe(2)
  })

  test('does not deliver again what it could not write down at once', async () => {
    const { settle, log, store, clock } = openOutbox()
    const wake = createLocalWake({ clock, pollMs: 1_000 })
    const feed = createFeed({ store: store.feed, wake })
    const channel = createRecordingChannel(lookup)
    let isBroken = true
    const commit: typeof log.commit = (command) => {
      if (command.type !== 'settle_delivery' || !isBroken) return log.commit(command)
      isBroken = false
      return Promise.reject(new ServerError('storage_full', 'The disk is full.'))
    }
    const outbox = startOutbox({
      channels: [channel],
      feed,
      store: store.outbox,
      log: { commit },
      clock,
      logger: silentLogger,
    })
    await settle()
    void log.commit(create(newSession()))
    await settle()
    await clock.advance(1_000)
    await settle()
    await clock.advance(1_000)
    await settle()

    expect(channel.tries).toEqual([1])
    expect(await store.outbox.deliveries('recording')).toEqual([])
    feed.close()
    await outbox.close()
  })
})

describe('on a store that several processes share', () => {
  function openTwo() {
    const parts = openOutbox()
    const { clock, openWith } = parts
    const shared = createLocalShared(clock)
    const dead = new Set<string>()
    const open = (owner: string) => {
      // A process that has died asks nothing any more.
      const own: Shared = {
        ...shared,
        hold: (...how) => (dead.has(owner) ? new Promise(() => {}) : shared.hold(...how)),
      }
      const changes = createSharedChanges({ shared, owner: 'one', clock, logger: silentLogger })
      onTestFinished(() => changes.close())
      return openWith({ changes, jobs: createJobs({ shared: own, owner, clock, logger: silentLogger }) })
    }
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= 500) await clock.advance(Math.min(left, 500))
      await parts.settle()
    }
    return { ...parts, a: open('A'), b: open('B'), dead, pass }
  }

  test('one of them delivers, and another one goes on where it stopped', async () => {
    const { a, b, newSessions, settle, pass } = openTwo()
    await settle()
    await newSessions(2)
    expect([a.channel.tries.length, b.channel.tries.length]).toEqual([2, 0])
    expect([a.outbox.lastShownAt('recording'), b.outbox.lastShownAt('recording')]).toEqual([expect.any(Number), null])

    const closed = a.outbox.close()
    await pass(1_500)
    await closed
    await newSessions(2)
    expect([a.channel.tries.length, b.channel.tries.length]).toEqual([2, 2])
  })

  test('after a death another one delivers within 15 seconds', async () => {
    const { a, b, newSessions, settle, dead, pass } = openTwo()
    await settle()
    await newSessions(1)
    a.channel.behave(...Array.from({ length: 100 }, () => 'hangs' as const))
    dead.add('A')
    await newSessions(3)
    await pass(15_000)

    expect(a.channel.messages()).toHaveLength(1)
    expect(b.channel.messages()).toHaveLength(3)
  })

  test('whoever does not deliver wakes the one that does', async () => {
    const { a, b, log, store, newSessions, settle, pass } = openTwo()
    await settle()
    await newSessions(1)
    const items = await store.feed.items(0, 10)
    void log.commit({ type: 'replay_deliveries', channel: 'recording', items })
    await settle()
    expect(a.channel.tries).toHaveLength(1)

    b.outbox.look('recording')
    await pass(500)
    expect([a.channel.tries.length, b.channel.tries.length]).toEqual([2, 0])
  })
})
