import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../test/tier.ts'
import { createByteBudget } from '../domain/byte-budget.ts'
import type { StoredEntry } from '../store/ports/journal.ts'
import { compactEntries } from './compact.ts'
import { collect, outcomeOf, settled } from './testing/open-log.ts'
import { createWatcher, type WatcherOptions } from './watcher.ts'

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

const entry = (seq: number, delta = 'x'): StoredEntry => ({
  seq,
  runId: 'r',
  kind: 'event',
  data: JSON.stringify({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta }),
})
const entries = (from: number, to: number, delta?: string): StoredEntry[] =>
  Array.from({ length: to - from + 1 }, (_, i) => entry(from + i, delta))

/** A reader of a log that the test writes by hand. A read takes as long as the test wants. */
function openWatcher(log: StoredEntry[], options: Partial<WatcherOptions> = {}) {
  const reads: number[] = []
  let closes = 0
  let held: Promise<void> | null = null
  const watcher = createWatcher({
    after: 0,
    async read(seq, limit) {
      reads.push(seq)
      const found = log.filter((one) => one.seq > seq).slice(0, limit)
      await held
      return found
    },
    onClose() {
      closes += 1
    },
    budget: createByteBudget(100 * LARGE, clock),
    ...options,
  })
  return {
    ...watcher,
    /** Behind which seq the log was read, each time. */
    reads,
    closes: () => closes,
    next: async () => (await watcher.next()).value?.map(({ seq }) => seq) ?? null,
    /** Writes to the log and tells the reader. */
    write(batch: readonly StoredEntry[]) {
      log.push(...batch)
      watcher.push(batch)
    },
    /** Reads have found what is there now, and return when what is returned here is called. */
    holdReads() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return () => {
        held = null
        resolve()
        return settled()
      }
    },
    collect: () => collect(watcher),
  }
}

describe('a reader', () => {
  test('reads the log to its end, then takes what is pushed', async () => {
    const reader = openWatcher(entries(1, 3))

    expect(await reader.next()).toEqual([1, 2, 3])
    const waiting = outcomeOf(reader.next())
    await settled()
    expect(waiting).toEqual({})
    reader.write(entries(4, 5))
    await settled()
    reader.write(entries(6, 6))
    reader.write(entries(7, 8))

    expect(waiting).toEqual({ done: [4, 5] })
    expect(await reader.next()).toEqual([6, 7, 8])
    expect(reader.reads).toEqual([0])
  })

  test('is shown the batch that was pushed as it is, without a copy', async () => {
    const watcher = createWatcher({
      after: 0,
      read: async () => [],
      onClose() {},
      budget: createByteBudget(1, clock),
    })
    const next = watcher.next()
    await settled()
    const batch = entries(1, 2)

    watcher.push(batch)

    expect((await next).value).toBe(batch)
  })

  test('begins with what was just committed, without a read, unless that is more than it would keep', async () => {
    const [few, many] = [entries(4, 5), entries(4, 5, 'x'.repeat(200_000))]
    const readers = [few, many].map((fresh) => openWatcher([...entries(1, 3), ...fresh], { after: 3, fresh }))

    expect(await Promise.all(readers.map((reader) => reader.next()))).toEqual([
      [4, 5],
      [4, 5],
    ])
    expect(readers.map(({ reads, isFresh }) => ({ reads, isFresh }))).toEqual([
      { reads: [], isFresh: true },
      { reads: [3], isFresh: false },
    ])
    readers[0]?.write(entries(6, 6))
    expect(await readers[0]?.next()).toEqual([6])
  })

  test('is shown only what it picks, and waits where that is nothing', async () => {
    const reader = openWatcher(entries(1, 3), { pick: (batch) => batch.filter(({ seq }) => seq % 2 === 0) })

    expect(await reader.next()).toEqual([2])
    const waiting = outcomeOf(reader.next())
    await settled()
    reader.write(entries(4, 4))
    await settled()
    expect(waiting).toEqual({ done: [4] })
    const second = outcomeOf(reader.next())
    reader.write(entries(5, 5))
    await settled()
    expect(second).toEqual({})
    reader.write(entries(6, 7))
    await settled()
    expect(second).toEqual({ done: [6] })
  })

  test('begins in the middle', async () => {
    const reader = openWatcher(entries(1, 5), { after: 3 })

    expect(await reader.next()).toEqual([4, 5])
    expect(reader.reads).toEqual([3])
  })

  test('takes no notice of what is pushed before it has begun to read: the log has it', async () => {
    const reader = openWatcher(entries(1, 2))

    reader.write(entries(3, 3))

    expect(await reader.next()).toEqual([1, 2, 3])
    expect(reader.reads).toEqual([0])
  })

  test('sees once what is pushed while it reads, whether or not the read has found it', async () => {
    for (const isFound of [true, false]) {
      const log = entries(1, 2)
      const reader = openWatcher(log)
      if (isFound) log.push(...entries(3, 3))
      const release = reader.holdReads()
      const all = reader.collect()
      await settled()

      if (!isFound) log.push(...entries(3, 3))
      reader.push(entries(3, 3))
      reader.write(entries(4, 4))
      await release()

      expect(all.seqs()).toEqual([1, 2, 3, 4])
      expect(reader.reads).toEqual([0])
    }
  })

  test('reads the log where something is missing between two pushes', async () => {
    const log = entries(1, 1)
    const reader = openWatcher(log)
    expect(await reader.next()).toEqual([1])
    reader.write(entries(2, 2))
    log.push(...entries(3, 3))
    reader.write(entries(4, 4))

    expect(await reader.next()).toEqual([2, 3, 4])
    expect(reader.reads).toEqual([0, 1])
  })

  test('reads the log where what is pushed does not follow what it has seen', async () => {
    const log = entries(1, 1)
    const reader = openWatcher(log)
    const all = reader.collect()
    await settled()
    log.push(...entries(2, 3))

    reader.write(entries(4, 4))
    await settled()

    expect(all.seqs()).toEqual([1, 2, 3, 4])
  })

  test('looks into the log when it is told to, and goes on waiting where nothing is new', async () => {
    const log = entries(1, 1)
    const reader = openWatcher(log)
    const all = reader.collect()
    await settled()
    reader.push([])
    await settled()
    expect({ seqs: all.seqs(), reads: reader.reads }).toEqual({ seqs: [1], reads: [0, 1] })

    log.push(...entries(2, 2))
    reader.push([])
    await settled()

    expect(all.seqs()).toEqual([1, 2])
  })

  test('that is told to look while it reads looks again', async () => {
    const log = entries(1, 1)
    const reader = openWatcher(log)
    const release = reader.holdReads()
    const all = reader.collect()
    await settled()

    log.push(...entries(2, 2))
    reader.push([])
    await release()

    expect(all.seqs()).toEqual([1, 2])
  })

  test('reads a long log page by page, and what is pushed meanwhile comes after it', async () => {
    const log = entries(1, 512)
    const reader = openWatcher(log)
    log.push(...entries(513, 1_030))

    expect((await reader.next())?.length).toBe(512)
    reader.write(entries(1_031, 1_031))
    expect((await reader.next())?.length).toBe(512)
    const all = reader.collect()
    await turns()

    expect(all.seqs()).toEqual([1_025, 1_026, 1_027, 1_028, 1_029, 1_030, 1_031])
    expect(reader.reads).toEqual([0, 512, 1_024])
  })

  test('is asked for pages of 512 entries and 64 KiB', async () => {
    const asked: number[][] = []
    const { next } = createWatcher({
      after: 7,
      async read(...args) {
        asked.push(args)
        return entries(8, 8)
      },
      onClose() {},
      budget: createByteBudget(1, clock),
    })
    await next()

    expect(asked).toEqual([[7, 512, 64 * 1024]])
  })

  test('sees each character of a compacted log once, wherever it begins', async () => {
    const log = compactEntries([entry(1, 'Hel'), entry(2, 'lo '), entry(3, 'you')])
    const texts = []
    for (const after of [0, 1, 2, 3]) {
      const all = openWatcher([...log], { after }).collect()
      await settled()
      texts.push(all.shown.map(({ data }) => JSON.parse(data).delta).join(''))
    }

    expect(texts).toEqual(['Hello you', 'lo you', 'you', ''])
  })

  test('sees no character again that it was pushed before the log was compacted', async () => {
    const log: StoredEntry[] = []
    const reader = openWatcher(log)
    const all = reader.collect()
    await settled()
    reader.write([entry(1, 'Hel')])
    await settled()
    log.splice(0, 1, ...compactEntries([entry(1, 'Hel'), entry(2, 'lo '), entry(3, 'you')]))

    reader.push([])
    await settled()

    expect(all.shown.map(({ seq, data }) => [seq, JSON.parse(data).delta])).toEqual([
      [1, 'Hel'],
      [3, 'lo you'],
    ])
  })

  test('that has nothing to see of a compacted page goes on to the next', async () => {
    const all = openWatcher([...compactEntries([entry(1, 'all'), entry(2, '')]), entry(3)], { after: 1 })
    const lone = openWatcher(compactEntries([entry(1, 'all'), entry(2, '')]), { after: 1 })
    const waiting = outcomeOf(lone.next())
    await settled()

    expect(await all.next()).toEqual([3])
    expect(waiting).toEqual({})
    lone.push(entries(3, 3))
    await settled()
    expect(waiting).toEqual({ done: [3] })
  })

  test('whose log cannot be read is told why', async () => {
    const broken = openWatcher([], { read: () => Promise.reject(new Error('The disk is gone.')) })

    await expect(broken.next()).rejects.toThrow('The disk is gone.')
  })

  test('sees every entry once and in order, whatever is pushed, missed, and read when', async () => {
    const act = fc.oneof(
      fc.record({ act: fc.constant('push' as const), count: fc.integer({ min: 1, max: 4 }), long: fc.boolean() }),
      fc.record({ act: fc.constantFrom('miss', 'look', 'hold', 'release', 'read', 'settle') }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 60, size: 'max' }), fc.nat({ max: 3 }), async (acts, after) => {
        const log = entries(1, 3)
        const reader = openWatcher(log, { after })
        const seen: number[] = []
        let isReading = false
        let release = async () => {}
        const read = () => {
          if (isReading) return
          isReading = true
          void reader.next().then((seqs) => {
            isReading = false
            seen.push(...(seqs ?? []))
          })
        }
        for (const one of acts) {
          const head = log.length
          if ('count' in one) reader.write(entries(head + 1, head + one.count, one.long ? 'x'.repeat(100_000) : 'x'))
          else if (one.act === 'miss') log.push(entry(head + 1))
          else if (one.act === 'look') reader.push([])
          else if (one.act === 'hold') {
            await release()
            release = reader.holdReads()
          } else if (one.act === 'release') await release()
          else if (one.act === 'read') read()
          else await settled()
        }
        await release()
        reader.push([])
        for (let more = true; more; ) {
          const before = seen.length
          read()
          await turns()
          more = seen.length > before
        }
        reader.close()
        expect(seen).toEqual(log.map(({ seq }) => seq).slice(after))
      }),
      { numRuns: runs(40) },
    )
  })
})

describe('a reader that lags', () => {
  /** Two of them are a little less than the buffer, three a little more. */
  const long = 'x'.repeat(100_000)

  async function caughtUp() {
    const reader = openWatcher(entries(1, 1))
    await reader.next()
    reader.reads.length = 0
    return reader
  }

  test('keeps 256 KiB of what is pushed, and beyond that nothing: it reads the log again', async () => {
    const reader = await caughtUp()
    reader.write(entries(2, 3, long))
    expect(await reader.next()).toEqual([2, 3])
    expect(reader.reads).toEqual([])

    reader.write(entries(4, 5, long))
    reader.write(entries(6, 6, long))
    reader.write(entries(7, 7))

    expect(await reader.next()).toEqual([4, 5, 6, 7])
    expect(reader.reads).toEqual([3])

    // That page was a full one, so it looks once more. Then it has caught up, and is pushed to again.
    reader.write(entries(8, 8))
    expect(await reader.next()).toEqual([8])
    reader.write(entries(9, 9))
    expect(await reader.next()).toEqual([9])
    expect(reader.reads).toEqual([3, 7])
  })

  test('keeps 256 KiB to the character', async () => {
    const fill = 256 * 1024 - entry(2, '').data.length
    const [exact, over] = [await caughtUp(), await caughtUp()]

    exact.write([entry(2, 'x'.repeat(fill))])
    over.write([entry(2, 'x'.repeat(fill + 1))])
    await exact.next()
    await over.next()

    expect([exact.reads, over.reads]).toEqual([[], [1]])
  })

  test('keeps up again once it has taken what waited: its buffer is empty then', async () => {
    const reader = await caughtUp()
    for (let i = 0; i < 5; i += 1) {
      reader.write(entries(2 + 2 * i, 3 + 2 * i, long))
      expect(await reader.next()).toEqual([2 + 2 * i, 3 + 2 * i])
    }

    expect(reader.reads).toEqual([])
  })
})

describe('closing a reader', () => {
  test('ends what waits for it, once', async () => {
    const reader = openWatcher(entries(1, 1))
    await reader.next()
    const waiting = outcomeOf(reader.next())
    await settled()

    reader.close()
    reader.close()
    await settled()

    expect(waiting).toEqual({ done: null })
    expect(reader.closes()).toBe(1)
    reader.write(entries(2, 2))
    expect(await reader.next()).toBeNull()
    expect(reader.reads).toEqual([0])
  })

  test('with a reason, whoever reads on is told why', async () => {
    const reader = openWatcher(entries(1, 1))
    await reader.next()
    const waiting = outcomeOf(reader.next())

    reader.close(new Error('The disk is full.'))
    await settled()

    expect(waiting).toEqual({ error: new Error('The disk is full.') })
    await expect(reader.next()).rejects.toThrow('The disk is full.')
    expect(reader.closes()).toBe(1)
  })

  test('drops what was pushed and not taken', async () => {
    const reader = openWatcher(entries(1, 1))
    await reader.next()
    reader.write(entries(2, 2))

    reader.close()

    expect(await reader.next()).toBeNull()
  })

  test('in the middle of a read, that read is its last', async () => {
    const reader = openWatcher(entries(1, 1))
    const release = reader.holdReads()
    const waiting = outcomeOf(reader.next())
    await settled()

    reader.close()
    await release()

    expect(waiting).toEqual({ done: [1] })
    expect(await reader.next()).toBeNull()
  })

  test('before the first read, nothing is read', async () => {
    const reader = openWatcher(entries(1, 1))
    reader.close()

    expect(await reader.next()).toBeNull()
    expect(reader.reads).toEqual([])
  })
})

describe('readers that lag', () => {
  test('hold large entries only while the shared budget lasts', async () => {
    const budget = createByteBudget(2 * 3 * LARGE, clock)
    const log = logOf([LARGE, LARGE, LARGE])
    const watch = () => createWatcher({ after: 0, read: log.read, onClose() {}, budget })
    const readers = Array.from({ length: 5 }, watch)
    const shown: number[] = []
    const first = readers.map(async (reader, i) => {
      const { value } = await reader.next()
      shown.push(i)
      return value
    })
    await turns()

    expect({ shown, used: budget.used, waiting: budget.waiting }).toEqual({
      shown: [0, 1],
      used: 6 * LARGE,
      waiting: 3,
    })
    // Asking for more says that the last was sent, closing that nobody wants it.
    const more = readers[0]?.next()
    readers[1]?.close()
    await turns()
    expect(shown).toEqual([0, 1, 2, 3])
    readers[2]?.close()
    readers[3]?.close()
    await turns()
    expect(shown).toEqual([0, 1, 2, 3, 4])
    expect((await more)?.value?.map(({ seq }) => seq)).toEqual([2])
    expect((await first[4])?.map(({ seq }) => seq)).toEqual([1])

    for (const reader of readers) reader.close()
    expect({ used: budget.used, waiting: budget.waiting }).toEqual({ used: 0, waiting: 0 })
  })

  test('let go of a large batch when they ask for the next', async () => {
    const budget = createByteBudget(3 * LARGE, clock)
    const reader = createWatcher({ after: 0, read: logOf([LARGE, LARGE]).read, onClose() {}, budget })
    const { value: batch } = await reader.next()
    expect(batch?.length).toBe(1)

    await reader.next()

    expect(batch?.length).toBe(0)
    reader.close()
  })

  test('that is closed while it waits holds nothing and takes no memory', async () => {
    const budget = createByteBudget(3 * LARGE, clock)
    const leave = await budget.take(3 * LARGE)
    const found = await logOf([LARGE]).read(0, 1, 1)
    const reader = createWatcher({ after: 0, read: async () => found, onClose() {}, budget })
    const next = reader.next()
    await turns()
    expect(found).toEqual([])

    reader.close()
    leave()

    expect(await next).toEqual({ done: true, value: undefined })
    expect(budget.used).toBe(0)
  })

  test('never wait for memory where entries are small', async () => {
    const budget = createByteBudget(1, clock)
    const leave = await budget.take(1)
    const log = logOf(Array.from({ length: 600 }, () => 1_000))
    const reader = createWatcher({ after: 0, read: log.read, onClose() {}, budget })

    const seqs: number[] = []
    while (seqs.length < 600) for (const { seq } of (await reader.next()).value ?? []) seqs.push(seq)

    expect(seqs).toEqual(Array.from({ length: 600 }, (_, i) => i + 1))
    leave()
  })

  test('read on in turns of the loop of their own, whether or not they need memory', async () => {
    const budget = createByteBudget(100 * LARGE, clock)
    let now = 0
    let isOver = false
    const tick = () => {
      now += 1
      if (!isOver) setImmediate(tick)
    }
    setImmediate(tick)
    const shown: number[] = []
    const follow = async (size: number) => {
      const reader = createWatcher({ after: 0, read: logOf([size, size, size]).read, onClose() {}, budget })
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

  test('that keep memory for 30 s are told, once others wait for it', async () => {
    let time = 0
    let look = () => {}
    const budget = createByteBudget(3 * LARGE, {
      ...clock,
      mono: () => time,
      after(_ms, fire) {
        look = fire
        return () => {}
      },
    })
    const { read } = logOf([LARGE, LARGE])
    const watch = (onOverdue: () => void) =>
      createWatcher({ after: 0, read, onClose() {}, budget, holder: { owner: 'ada', onOverdue } })
    const slow = watch(() => slow.close())
    const other = watch(() => {})
    await slow.next()
    const next = other.next()
    await turns()
    expect({ used: budget.used, waiting: budget.waiting }).toEqual({ used: 3 * LARGE, waiting: 1 })

    time = 30_000
    look()

    expect((await next).value?.map(({ seq }) => seq)).toEqual([1])
    other.close()
  })
})
