import { describe, expect, test } from 'vitest'
import { createTestClock } from './testing/open-log.ts'
import { describeWake } from './wake.contract.ts'
import { createLocalWake } from './wake.ts'

describeWake('local', async () => {
  const clock = createTestClock()
  const wake = createLocalWake({ clock, pollMs: 1_000 })
  return { here: wake, there: wake, pass: clock.advance }
})

describe('a local wake', () => {
  /** A clock that counts what it is asked for. */
  function countedClock() {
    const clock = createTestClock()
    const asked: string[] = []
    const counted = {
      soon(fire: () => void) {
        asked.push('soon')
        clock.soon(fire)
      },
      after(ms: number, fire: () => void) {
        asked.push(`after ${ms}`)
        const cancel = clock.after(ms, fire)
        return () => {
          asked.push('cancelled')
          cancel()
        }
      },
    }
    return { clock, counted, asked }
  }

  test('costs nothing where nobody else waits, and has no timer without polling', async () => {
    const { clock, counted, asked } = countedClock()
    const wake = createLocalWake({ clock: counted, pollMs: null })
    const alone = wake.join('entries', () => expect.fail('it has woken itself'))
    wake.join('runs', () => expect.fail('it has woken the wrong one'))

    alone.notify('session')
    await clock.advance(10_000)

    expect(asked).toEqual([])
  })

  test('says it once where many things have happened at a time', async () => {
    const { clock, counted, asked } = countedClock()
    const wake = createLocalWake({ clock: counted, pollMs: null })
    const looks: (string | null)[] = []
    const sender = wake.join('entries', () => {})
    wake.join('entries', (sessionId) => void looks.push(sessionId))

    for (let i = 0; i < 100; i += 1) sender.notify(i % 2 === 0 ? 'a' : 'b')
    await clock.advance(0)

    expect({ asked, looks }).toEqual({ asked: ['soon'], looks: ['a', 'b'] })
  })

  test('polls only while somebody waits', async () => {
    const { clock, counted, asked } = countedClock()
    const wake = createLocalWake({ clock: counted, pollMs: 1_000 })
    await clock.advance(5_000)
    expect(asked).toEqual([])

    const [first, second] = [wake.join('entries', () => {}), wake.join('runs', () => {})]
    await clock.advance(1_000)
    first.leave()
    second.leave()
    await clock.advance(5_000)

    expect(asked).toEqual(['after 1000', 'after 1000', 'cancelled'])
    asked.length = 0
    const last = wake.join('entries', () => last.leave())
    await clock.advance(5_000)

    expect(asked).toEqual(['after 1000'])
  })
})
