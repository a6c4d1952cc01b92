import { describe, expect, test } from 'vitest'
import { createByteBudget } from './byte-budget.ts'

function manualClock() {
  let time = 0
  let timers: { at: number; fire: () => void }[] = []
  return {
    mono: () => time,
    soon: (fire: () => void) => void setImmediate(fire),
    after(ms: number, fire: () => void) {
      const timer = { at: time + ms, fire }
      timers.push(timer)
      return () => {
        timers = timers.filter((one) => one !== timer)
      }
    },
    advance(ms: number) {
      for (const until = time + ms; time < until; ) {
        time += 1_000
        const due = timers.filter(({ at }) => at <= time)
        timers = timers.filter(({ at }) => at > time)
        for (const { fire } of due) fire()
      }
    },
    get timers() {
      return timers.length
    },
  }
}

describe('a byte budget', () => {
  test('is given out in order, and never more than there is', async () => {
    const budget = createByteBudget(100, manualClock())
    const began: string[] = []
    const take = (name: string, bytes: number) =>
      budget.take(bytes).then((release) => {
        began.push(name)
        return release
      })

    const first = await take('first', 60)
    const large = take('large', 90)
    // It would fit, and waits all the same: else the large one could wait for ever.
    const small = take('small', 10)
    await Promise.resolve()
    expect({ began, used: budget.used, waiting: budget.waiting }).toEqual({ began: ['first'], used: 60, waiting: 2 })
    expect(budget.takeNow(10)).toBeNull()

    first()
    first()
    const releases = [await large, await small]
    expect({ began, used: budget.used }).toEqual({ began: ['first', 'large', 'small'], used: 100 })
    for (const release of releases) release()
    expect({ used: budget.used, waiting: budget.waiting }).toEqual({ used: 0, waiting: 0 })
    expect(budget.takeNow(10)).not.toBeNull()
  })

  test('gives the whole budget to a request that is larger than it', async () => {
    const budget = createByteBudget(100, manualClock())

    const release = await budget.take(1_000)

    expect(budget.used).toBe(100)
    release()
    expect(budget.used).toBe(0)
  })

  test('tells a holder after 30 s that others wait, and not before', async () => {
    const clock = manualClock()
    const budget = createByteBudget(100, clock)
    let told = 0
    const onOverdue = () => {
      told += 1
      release()
    }
    const release = await budget.take(100, { owner: 'ada', onOverdue })

    clock.advance(60_000)
    expect({ told, timers: clock.timers }).toEqual({ told: 0, timers: 0 })
    const next = budget.take(100)
    clock.advance(1_000)
    expect(told).toBe(1)
    ;(await next)()
    expect({ used: budget.used, timers: clock.timers }).toEqual({ used: 0, timers: 0 })
  })

  test('gives each caller its own turn of the event loop', async () => {
    const budget = createByteBudget(100, manualClock())
    let now = 0
    const tick = () => {
      now += 1
      if (now < 100) setImmediate(tick)
    }
    setImmediate(tick)

    const turns = await Promise.all(Array.from({ length: 20 }, () => budget.turn().then(() => now)))

    expect(new Set(turns).size).toBe(20)
  })

  test('goes to the owner who holds least, so that nobody can block others with many readers', async () => {
    const budget = createByteBudget(100, manualClock())
    const began: string[] = []
    const take = (owner: string) =>
      budget.take(50, { owner }).then((release) => {
        began.push(owner)
        return release
      })
    const [first] = await Promise.all([take('ada'), take('ada')])
    const waiting = [take('ada'), take('ada'), take('bob')]
    expect(budget.waiting).toBe(3)

    first?.()
    await waiting[2]

    expect(began).toEqual(['ada', 'ada', 'bob'])
    expect(budget.waiting).toBe(2)
  })
})
