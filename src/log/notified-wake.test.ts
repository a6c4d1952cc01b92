import { describe, expect, test } from 'vitest'
import type { Notifications } from '../store/ports/notifications.ts'
import { createNotifiedWake } from './notified-wake.ts'
import { createTestClock } from './testing/open-log.ts'
import { describeWake } from './wake.contract.ts'

/** A channel that reaches everybody, the sender too, as Postgres's does. */
function createChannel() {
  const listeners = new Set<(payload: string | null) => void>()
  const sent: string[] = []
  /** What a slow database has not answered yet. */
  const underWay: (() => void)[] = []
  const database = { isSlow: false }
  const notifications: Notifications = {
    async send(payload) {
      sent.push(payload)
      setImmediate(() => {
        for (const on of [...listeners]) on(payload)
      })
      if (database.isSlow) await new Promise<void>((resolve) => void underWay.push(resolve))
    },
    listen(on) {
      listeners.add(on)
      return () => void listeners.delete(on)
    },
  }
  const lose = () => {
    for (const on of [...listeners]) on(null)
  }
  return { notifications, sent, lose, listeners, database, underWay }
}

function open({ others = ['x'] }: { others?: string[] } = {}) {
  const clock = createTestClock()
  const channel = createChannel()
  const { notifications } = channel
  const wakeOf = (replica: string, findOthers = async () => others) =>
    createNotifiedWake({ notifications, clock, replica, findOthers })
  return { clock, ...channel, wakeOf }
}

describeWake('notified', async () => {
  const { clock, wakeOf } = open()
  const [here, there] = [wakeOf('a'), wakeOf('b')]
  await clock.advance(0)
  return { here, there, pass: clock.advance }
})

describe('a notified wake', () => {
  test('sends once for what happens within five milliseconds, and at once after a pause', async () => {
    const { clock, sent, wakeOf } = open()
    const member = wakeOf('a').join('entries', () => {})
    await clock.advance(100)
    sent.length = 0

    member.notify('s1')
    await clock.advance(0)
    for (let i = 0; i < 100; i += 1) member.notify(i % 2 === 0 ? 's2' : 's3')
    await clock.advance(4)
    expect(sent).toEqual(['["a",["s1"],[],[]]'])
    await clock.advance(1)

    expect(sent).toEqual(['["a",["s1"],[],[]]', '["a",["s2","s3"],[],[]]'])
  })

  test('has one payload under way at a time, however slow the database is', async () => {
    const { clock, sent, database, underWay, wakeOf } = open()
    const member = wakeOf('a').join('entries', () => {})
    await clock.advance(100)
    sent.length = 0
    database.isSlow = true

    for (let i = 0; i < 50; i += 1) {
      member.notify(`s${i % 2}`)
      await clock.advance(10)
    }
    expect(sent).toEqual(['["a",["s0"],[],[]]'])

    underWay.shift()?.()
    await clock.advance(10)
    expect(sent.slice(1)).toEqual(['["a",["s1","s0"],[],[]]'])
    underWay.shift()?.()
    await clock.advance(1_000)
    expect([sent.length, underWay.length]).toEqual([2, 0])
  })

  test('remembers no more sessions than it can name while the database is slow', async () => {
    const { clock, sent, database, underWay, wakeOf } = open()
    const member = wakeOf('a').join('runs', () => {})
    await clock.advance(100)
    sent.length = 0
    database.isSlow = true
    member.notify('first')
    await clock.advance(10)

    for (let i = 0; i < 5_000; i += 1) member.notify(`${i % 2_000}`)
    underWay.shift()?.()
    await clock.advance(10)
    member.notify('next')
    underWay.shift()?.()
    await clock.advance(10)

    expect(sent).toEqual(['["a",[],["first"],[]]', '["a","*"]', '["a",[],["next"],[]]'])
  })

  test('says "look at everything" where the sessions do not fit into one payload', async () => {
    const { clock, sent, wakeOf } = open()
    const looks: (string | null)[] = []
    wakeOf('b').join('runs', (sessionId) => void looks.push(sessionId))
    const member = wakeOf('a').join('entries', () => {})
    await clock.advance(100)
    sent.length = 0

    for (let i = 0; i < 300; i += 1) member.notify(`018f0000-0000-7000-8000-${String(i).padStart(12, '0')}`)
    await clock.advance(10)

    expect({ sent, looks }).toEqual({ sent: ['["a","*"]'], looks: [null] })
  })

  test.each(['lost', 'not JSON', '{}', '[1]', '["b",[1]]'])('makes everybody look when news are %s', async (what) => {
    const { clock, lose, notifications, wakeOf } = open()
    const wake = wakeOf('a')
    const looks: (string | null)[] = []
    wake.join('entries', (sessionId) => void looks.push(sessionId))
    wake.join('feed', (sessionId) => void looks.push(sessionId))
    await clock.advance(10)

    if (what === 'lost') lose()
    else void notifications.send(what)
    await clock.advance(10)

    expect(looks).toEqual([null, null])
  })

  test('sends nothing while its process is the only one, and again as soon as another one says hello', async () => {
    const { clock, sent, wakeOf } = open({ others: [] })
    const wake = wakeOf('a')
    const member = wake.join('runs', () => {})
    await clock.advance(100)
    sent.length = 0
    member.notify('session')
    await clock.advance(10_000)
    expect([wake.isAlone, sent]).toEqual([true, []])

    const looks: (string | null)[] = []
    wakeOf('b').join('runs', (sessionId) => void looks.push(sessionId))
    await clock.advance(10)
    member.notify('session')
    await clock.advance(10)

    expect([wake.isAlone, looks]).toEqual([false, ['session']])
    // It was heard, but has no lease: fifteen seconds later it counts as gone.
    await clock.advance(20_000)
    expect(wake.isAlone).toBe(true)
  })

  test('sends while it cannot know whether it is alone', async () => {
    const { clock, wakeOf } = open()
    let isAway = true
    const wake = wakeOf('a', async () => {
      if (isAway) throw new Error('away')
      return []
    })
    await clock.advance(5_000)
    expect(wake.isAlone).toBe(false)

    isAway = false
    await clock.advance(5_000)
    expect(wake.isAlone).toBe(true)
  })

  test('hears and sends nothing once it is closed', async () => {
    const { clock, sent, listeners, wakeOf } = open()
    const wake = wakeOf('a')
    const member = wake.join('runs', () => {})
    await clock.advance(10)
    sent.length = 0

    member.notify('session')
    wake.close()
    await clock.advance(10_000)

    expect([sent, listeners.size]).toEqual([[], 0])
  })
})
