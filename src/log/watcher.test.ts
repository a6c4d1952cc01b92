import { describe, expect, test } from 'vitest'
import { createByteBudget } from '../domain/byte-budget.ts'
import type { StoredEntry } from '../store/ports/entry.ts'
import { createWatcher } from './watcher.ts'

const LARGE = 1_000_000
const clock = { mono: () => 0, after: () => () => {}, soon: (fire: () => void) => void setImmediate(fire) }

/** A log whose entries have so many characters each. */
function logOf(sizes: readonly number[]) {
  let reads = 0
  return {
    reads: () => reads,
    async read(seq: number, limit: number, maxChars: number): Promise<StoredEntry[]> {
      reads += 1
      const found: StoredEntry[] = []
      let chars = 0
      for (const [i, size] of sizes.entries()) {
        if (i < seq || found.length >= limit || chars >= maxChars) continue
        found.push({ seq: i + 1, runId: 'r', kind: 'event', data: 'x'.repeat(size) })
        chars += size
      }
      return found
    },
  }
}

const turns = async () => {
  for (let i = 0; i < 20; i += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}

describe('readers that lag', () => {
  test('hold large entries only while there is room for them among all', async () => {
    const room = createByteBudget(2 * 3 * LARGE, clock)
    const log = logOf([LARGE, LARGE, LARGE])
    const watch = () => createWatcher({ after: 0, read: log.read, onClose() {}, room })
    const readers = Array.from({ length: 5 }, watch)
    const shown: number[] = []
    const first = readers.map(async (reader, i) => {
      const batch = await reader.next()
      shown.push(i)
      return batch
    })
    await turns()

    expect({ shown, used: room.used, waiting: room.waiting }).toEqual({ shown: [0, 1], used: 6 * LARGE, waiting: 3 })
    // Asking for more says that the last was sent, closing that nobody wants it.
    const more = readers[0]?.next()
    readers[1]?.close()
    await turns()
    expect(shown).toEqual([0, 1, 2, 3])
    readers[2]?.close()
    readers[3]?.close()
    await turns()
    expect(shown).toEqual([0, 1, 2, 3, 4])
    expect((await more)?.map(({ seq }) => seq)).toEqual([2])
    expect((await first[4])?.map(({ seq }) => seq)).toEqual([1])

    for (const reader of readers) reader.close()
    expect({ used: room.used, waiting: room.waiting }).toEqual({ used: 0, waiting: 0 })
  })

  test('that is closed while it waits takes no room', async () => {
    const room = createByteBudget(3 * LARGE, clock)
    const leave = await room.take(3 * LARGE)
    const reader = createWatcher({ after: 0, read: logOf([LARGE]).read, onClose() {}, room })
    const next = reader.next()
    await turns()

    reader.close()
    leave()

    expect(await next).toBeNull()
    expect(room.used).toBe(0)
  })

  test('never wait for room where entries are small', async () => {
    const room = createByteBudget(1, clock)
    const leave = await room.take(1)
    const log = logOf(Array.from({ length: 600 }, () => 1_000))
    const reader = createWatcher({ after: 0, read: log.read, onClose() {}, room })

    const seqs: number[] = []
    while (seqs.length < 600) for (const { seq } of (await reader.next()) ?? []) seqs.push(seq)

    expect(seqs).toEqual(Array.from({ length: 600 }, (_, i) => i + 1))
    leave()
  })

  test('read on in turns of the loop of their own, whether or not they need room', async () => {
    const room = createByteBudget(100 * LARGE, clock)
    let now = 0
    let isOver = false
    const tick = () => {
      now += 1
      if (!isOver) setImmediate(tick)
    }
    setImmediate(tick)
    const shown: number[] = []
    const follow = async (size: number) => {
      const reader = createWatcher({ after: 0, read: logOf([size, size, size]).read, onClose() {}, room })
      await reader.next()
      for (let i = 0; i < 2; i += 1) {
        await reader.next()
        shown.push(now)
      }
      reader.close()
    }

    await Promise.all([70_000, 70_000, LARGE, LARGE].map(follow))
    isOver = true

    expect(new Set(shown).size).toBe(8)
  })

  test('that keep room for 30 s are told, once others wait for it', async () => {
    let time = 0
    let look = () => {}
    const room = createByteBudget(3 * LARGE, {
      ...clock,
      mono: () => time,
      after(_ms, fire) {
        look = fire
        return () => {}
      },
    })
    const { read } = logOf([LARGE, LARGE])
    const watch = (onOverdue: () => void) =>
      createWatcher({ after: 0, read, onClose() {}, room, holder: { owner: 'ada', onOverdue } })
    const slow = watch(() => slow.close())
    const other = watch(() => {})
    await slow.next()
    const next = other.next()
    await turns()
    expect({ used: room.used, waiting: room.waiting }).toEqual({ used: 3 * LARGE, waiting: 1 })

    time = 30_000
    look()

    expect((await next)?.map(({ seq }) => seq)).toEqual([1])
    other.close()
  })
})
