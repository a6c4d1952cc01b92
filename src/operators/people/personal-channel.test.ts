import { describe, expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import type { Approval, PersonRecord } from '../../domain/records/record.ts'
import type { NotifySettings } from '../../domain/settings/channel-settings.ts'
import { testOperator } from '../../domain/testing/test-operator.ts'
import { createFeed } from '../../engine/feed.ts'
import { createTestClock, openLog } from '../../log/testing/open-log.ts'
import { createLocalWake } from '../../log/wake.ts'
import { accept, expire, finish, newApproval, newSession } from '../../store/contract/samples.contract.ts'
import { DeliveryFailed, type RecordLookup } from '../operator.ts'
import { startOutbox } from '../testing/start-outbox.ts'
import { testLink } from '../testing/test-post.ts'
import { createPersonRules } from './person-rules.ts'
import { createPersonalChannel } from './personal-channel.ts'

const HOUR_MS = 60 * 60 * 1_000

/** An operator in UTC, an outbox, and a service that remembers what it was asked to show. The time is midnight. */
function open(notify: Partial<NotifySettings> = {}) {
  const clock = createTestClock()
  const wake = createLocalWake({ clock, pollMs: null })
  const { log, store } = openLog({ clock, wake })
  const ada = testOperator({ name: 'ada' })
  const person = { ...ada, notify: { ...ada.notify, ...notify } }
  const rules = createPersonRules({ person, operators: [person], escalation: [] })
  const shown: string[] = []
  let isDown = false
  const create = createPersonalChannel({
    name: 'test:ada',
    person: 'ada',
    rules,
    link: testLink,
    async show({ notification }) {
      if (isDown) throw new DeliveryFailed('The service is down.')
      shown.push(`${notification.title}: ${notification.body}`)
      return 'shown'
    },
  })
  const find: RecordLookup['find'] = async ({ id }) => (await store.waits.get(id)) as PersonRecord | null

  const start = () => {
    const feed = createFeed({ store: store.feed, wake })
    const channel = create({ find })
    const outbox = startOutbox({ channels: [channel], feed, store: store.outbox, log, clock, logger: silentLogger })
    const stop = async () => {
      feed.close()
      const closed = outbox.close()
      await clock.advance(10)
      await closed
    }
    onTestFinished(stop)
    return { channel, stop }
  }
  const settle = async () => {
    for (let i = 0; i < 20; i += 1) await clock.advance(2)
  }
  /** Lets time pass as a scheduler sees it: in steps. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 10 * 60_000) await clock.advance(Math.min(left, 10 * 60_000))
    await settle()
  }
  /** A run of an agent asks all of these. */
  const ask = async (...values: Partial<Approval>[]) => {
    const taken = log.commit(accept(newSession()))
    await settle()
    const run = (await taken).run ?? expect.fail('the run was not taken')
    const waits = values.map((one) => newApproval(run, { createdAt: clock.now(), ...one }))
    void log.commit(finish(run, { status: 'waiting', now: clock.now(), waits }))
    await settle()
    return waits
  }
  return {
    shown,
    start,
    settle,
    pass,
    ask,
    /** Nobody answers in time. */
    async expire(wait: Approval | undefined) {
      void log.commit({ type: 'settle_waits', answers: [expire(wait?.id ?? '')], now: clock.now() })
      await settle()
    },
    goDown(down = true) {
      isDown = down
    },
    waits: async () => (await store.outbox.deliveries('test:ada')).length,
  }
}

describe('an operator', () => {
  const quietHours = { from: 0, to: 7 * 60, timeZone: 'UTC' }
  const line = (tool: string, risk: string) => `assistant asks to call a tool: Tool ${tool}, risk ${risk}.`

  test('sleeps in the quiet hours, hears what is critical at once, and later what still waits', async () => {
    const { shown, start, settle, pass, ask, expire } = open({ quietHours })
    start()
    await settle()
    const [first] = await ask({ tool: 'a', risk: 'low' }, { tool: 'b', risk: 'high' }, { tool: 'c', risk: 'critical' })
    expect(shown).toEqual([line('c', 'critical')])
    await expire(first)
    await pass(6 * HOUR_MS)
    expect(shown.length).toBe(1)
    await pass(2 * HOUR_MS)

    expect(shown.slice(1)).toEqual([line('b', 'high')])
  })

  test('wakes up to one message about all that still waits, the most urgent first', async () => {
    const { shown, start, settle, pass, ask } = open({ quietHours })
    start()
    await settle()
    await ask({ tool: 'a', risk: 'low' }, { tool: 'b', risk: 'high' })
    await pass(8 * HOUR_MS)

    expect(shown).toEqual([`2 messages: ${line('b', 'high')}\n${line('a', 'low')}`])
  })

  test('is not rung up by what is low: it comes in one message, while the rest comes at once', async () => {
    const { shown, start, settle, pass, ask } = open()
    start()
    await settle()
    await ask({ tool: 'a', risk: 'low' }, { tool: 'b', risk: 'high' })
    await ask({ tool: 'c', risk: 'low' })
    expect(shown).toEqual([line('b', 'high')])
    await pass(HOUR_MS / 4)

    expect(shown.slice(1)).toEqual([`2 messages: ${line('a', 'low')}\n${line('c', 'low')}`])
  })

  test('gets one message about what is low over a restart, and none about what becomes of each', async () => {
    const { shown, start, settle, pass, ask, expire } = open()
    const first = start()
    await settle()
    const [one, over] = await ask({ tool: 'a', risk: 'low' }, { tool: 'c', risk: 'low' })
    await ask({ tool: 'b', risk: 'low' })
    await expire(over)
    await first.stop()
    const second = start()
    await pass(HOUR_MS / 4)
    await second.stop()
    start()
    await expire(one)
    await pass(HOUR_MS / 4)

    expect(shown).toEqual([`2 messages: ${line('a', 'low')}\n${line('b', 'low')}`])
  })

  test('sees what became of the one thing that was low', async () => {
    const { shown, start, settle, pass, ask, expire } = open()
    start()
    await settle()
    const [only] = await ask({ tool: 'a', risk: 'low' })
    await pass(HOUR_MS / 4)
    await expire(only)
    await settle()

    expect(shown).toEqual([line('a', 'low'), expect.stringMatching(/: Expired\./)])
  })

  test('gets one message about what came within the time of a digest', async () => {
    const { shown, start, settle, pass, ask } = open({ digestMs: HOUR_MS })
    start()
    await settle()
    await ask({ tool: 'a', risk: 'low' }, { tool: 'b', risk: 'high' })
    await ask({ tool: 'c', risk: 'low' })
    expect(shown).toEqual([])
    await pass(HOUR_MS)

    const lines = [line('b', 'high'), line('a', 'low'), line('c', 'low')]
    expect(shown).toEqual([`3 messages: ${lines.join('\n')}`])
  })

  test('sees everything once after an hour in which the service was down and the server started again', async () => {
    const { shown, start, settle, pass, ask, goDown, waits } = open()
    const first = start()
    await settle()
    goDown()
    await ask({ tool: 'a', risk: 'high' })
    await pass(HOUR_MS)
    expect(first.channel.trouble?.()).toBe('test:ada: The service is down.')
    await first.stop()
    await ask({ tool: 'b', risk: 'high' })
    goDown(false)
    start()
    await pass(60_000)

    expect(shown.toSorted()).toEqual([line('a', 'high'), line('b', 'high')])
    expect(await waits()).toBe(0)
  })
})
