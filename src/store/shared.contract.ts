// The promises of the port for shared records. Every implementation runs this suite.

import { describe, expect, test } from 'vitest'
import type { Shared } from './ports/shared.ts'

export interface SharedUnderTest {
  /** Two ends of it, each in a process of its own. Where it knows one process only, they are the same. */
  here: Shared
  there: Shared
  /** Epoch ms by the clock that it goes by, or nearly. */
  now(): number
  /** Lets time pass. */
  pass(ms: number): Promise<void>
}

const always = { version: null, expiresAt: null }

export function describeShared(name: string, open: () => Promise<SharedUnderTest>): void {
  describe(`${name} shared records`, () => {
    test('reads back elsewhere what was written, and nothing of another kind', async () => {
      const { here, there } = await open()
      expect(await there.get('device', 'a')).toBeNull()

      expect(await here.put({ kind: 'device', key: 'a', value: 'one', ...always })).toBe(true)

      expect(await there.get('device', 'a')).toEqual({
        key: 'a',
        value: 'one',
        version: expect.any(Number),
        expiresAt: null,
      })
      expect(await there.get('code', 'a')).toBeNull()
    })

    test('lists a kind in the order of its keys', async () => {
      const { here, there } = await open()
      for (const key of ['b', 'ä', 'a', 'B']) await here.put({ kind: 'device', key, value: key, ...always })
      await here.put({ kind: 'code', key: 'c', value: 'c', ...always })

      expect((await there.list('device')).map(({ key, value }) => [key, value])).toEqual([
        ['B', 'B'],
        ['a', 'a'],
        ['b', 'b'],
        ['ä', 'ä'],
      ])
      expect(await there.list('none')).toEqual([])
    })

    test('takes a write only from whoever has read the present record', async () => {
      const { here, there } = await open()
      const put = (shared: Shared, value: string, version: number | null) =>
        shared.put({ kind: 'token', key: 'a', value, version, expiresAt: null })
      const version = async () => (await here.get('token', 'a'))?.version ?? 0

      expect(await put(here, 'first', 1)).toBe(false)
      expect(await put(here, 'first', 0)).toBe(true)
      expect(await put(there, 'other', 0)).toBe(false)
      const first = await version()
      expect(await put(there, 'second', first)).toBe(true)
      expect(await put(here, 'late', first)).toBe(false)
      expect(await version()).toBeGreaterThan(first)
      expect(await put(here, 'anyway', null)).toBe(true)
      expect((await there.get('token', 'a'))?.value).toBe('anyway')
    })

    test('a record that was made anew takes no write that was meant for the old one', async () => {
      const { here, there } = await open()
      const put = (value: string, version: number) =>
        here.put({ kind: 'token', key: 'a', value, version, expiresAt: null })
      await put('old', 0)
      const { version = 0 } = (await there.get('token', 'a')) ?? {}
      await there.take('token', 'a')
      await put('new', 0)

      expect(await put('late', version)).toBe(false)
      expect((await here.get('token', 'a'))?.value).toBe('new')
    })

    test('of several that make a record at the same time, one does', async () => {
      const { here, there } = await open()
      const put = (shared: Shared, value: string) =>
        shared.put({ kind: 'secret', key: 'a', value, version: 0, expiresAt: null })

      const made = await Promise.all([put(here, '0'), put(there, '1'), put(here, '2'), put(there, '3')])

      expect(made.filter(Boolean)).toHaveLength(1)
      expect((await here.get('secret', 'a'))?.value).toBe(String(made.indexOf(true)))
    })

    test('of several that take a record at the same time, one gets it', async () => {
      const { here, there } = await open()
      await here.put({ kind: 'code', key: 'a', value: 'one', ...always })

      const taken = await Promise.all([here, there, here, there].map((shared) => shared.take('code', 'a')))

      expect(taken.filter((one) => one !== null).map(({ value }) => value)).toEqual(['one'])
      expect(await here.get('code', 'a')).toBeNull()
    })

    test('a record whose time is over does not exist', async () => {
      const { here, there, now, pass } = await open()
      const put = (key: string, expiresAt: number) =>
        here.put({ kind: 'code', key, value: key, version: null, expiresAt })
      const later = now() + 600_000
      await put('over', now() - 1_000)
      await put('soon', now() + 30)
      await put('later', later)
      await pass(40)

      expect(await there.get('code', 'over')).toBeNull()
      expect(await there.get('code', 'soon')).toBeNull()
      const left = await there.list('code')
      expect(left.map(({ key }) => key)).toEqual(['later'])
      expect(Math.abs((left[0]?.expiresAt ?? 0) - later)).toBeLessThan(60_000)
      expect(await there.take('code', 'over')).toBeNull()
      expect(await there.put({ kind: 'code', key: 'soon', value: 'x', version: 1, expiresAt: null })).toBe(false)
      expect(await there.put({ kind: 'code', key: 'soon', value: 'new', version: 0, expiresAt: null })).toBe(true)
      expect((await here.get('code', 'soon'))?.value).toBe('new')
    })

    test('keys and values may be anything that a stranger can send', async () => {
      const { here, there } = await open()
      const texts = [
        '',
        '"',
        '"a"',
        '__proto__',
        'a\0b',
        '\ud800',
        '😀',
        "'; DROP TABLE shared",
        '\\',
        ' ',
        '%',
        'a'.repeat(300),
      ]
      for (const text of texts) await here.put({ kind: 'any', key: text, value: text, ...always })

      expect((await there.list('any')).map(({ key, value }) => [key, value])).toEqual(
        texts.toSorted().map((text) => [text, text]),
      )
      for (const text of texts) expect((await there.get('any', text))?.value).toBe(text)
      const counted = await here.count(
        'any',
        texts.map((key) => ({ key, n: 1 })),
        60_000,
      )
      expect(counted.map(({ count }) => count)).toEqual(texts.map(() => 1))
      for (const text of texts) expect((await there.take('any', text))?.key).toBe(text)
      for (const text of texts) expect(await there.hold(text, text, 60_000)).toBe(true)
    })

    test('refuses what is too long, and writes nothing of it', async () => {
      const { here } = await open()
      const put = (key: string, value: string) => here.put({ kind: 'any', key, value, ...always })

      await expect(put('a'.repeat(301), '')).rejects.toThrow(RangeError)
      await expect(put('a', 'a'.repeat(1_000_001))).rejects.toThrow(RangeError)
      await expect(here.count('any', [{ key: 'a'.repeat(301), n: 1 }], 1_000)).rejects.toThrow(RangeError)
      expect(await here.list('any')).toEqual([])
    })

    test('counts from everywhere together, and from 0 when the time is over', async () => {
      const { here, there, now, pass } = await open()
      const count = async (shared: Shared, n: number, windowMs = 60_000) =>
        (await shared.count('posts', [{ key: 'ada', n }], windowMs))[0]

      const before = now()
      const first = await count(here, 2)
      expect(first?.count).toBe(2)
      expect((first?.endsAt ?? 0) - before).toBeGreaterThan(59_000)
      const second = await count(there, 3)
      expect(second?.count).toBe(5)
      // The same window. Whoever asks over a network knows its end less exactly.
      expect(Math.abs((second?.endsAt ?? 0) - (first?.endsAt ?? 0))).toBeLessThan(30_000)
      expect(
        (
          await here.count(
            'posts',
            [
              { key: 'eve', n: 1 },
              { key: 'ada', n: 0 },
            ],
            60_000,
          )
        ).map((one) => one.count),
      ).toEqual([1, 5])
      expect((await here.count('logins', [{ key: 'ada', n: 1 }], 20)).map((one) => one.count)).toEqual([1])
      await pass(40)
      expect((await there.count('logins', [{ key: 'ada', n: 4 }], 20)).map((one) => one.count)).toEqual([4])
      expect(await here.count('posts', [], 1_000)).toEqual([])
    })

    test('many that count at the same time lose nothing', async () => {
      const { here, there } = await open()
      const keys = ['a', 'b', 'c', 'd']
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => {
          const added = (i % 2 === 0 ? keys : keys.toReversed()).map((key) => ({ key, n: 1 }))
          return (i % 3 === 0 ? here : there).count('posts', added, 60_000)
        }),
      )

      const sums = await here.count(
        'posts',
        keys.map((key) => ({ key, n: 0 })),
        60_000,
      )
      expect(sums.map(({ count }) => count)).toEqual([20, 20, 20, 20])
    })

    test('a job has one holder at a time, until it is released or its time is over', async () => {
      const { here, there, pass } = await open()

      expect(await here.hold('outbox', 'A', 60_000)).toBe(true)
      expect(await there.hold('outbox', 'B', 60_000)).toBe(false)
      expect(await here.hold('outbox', 'A', 60_000)).toBe(true)
      expect(await there.hold('other', 'B', 60_000)).toBe(true)
      await there.release('outbox', 'B')
      expect(await there.hold('outbox', 'B', 60_000)).toBe(false)
      await here.release('outbox', 'A')
      expect(await there.hold('outbox', 'B', 20)).toBe(true)
      // Two replicas know the database's time to within a round trip, so one wait may be too short on a busy machine.
      do await pass(40)
      while (!(await here.hold('outbox', 'A', 60_000)))
      expect(await there.hold('outbox', 'B', 60_000)).toBe(false)
    })

    test('of several that want a free job at the same time, one gets it', async () => {
      const { here, there } = await open()
      const wanted = ['A', 'B', 'C', 'D'].map((owner, i) => (i % 2 === 0 ? here : there).hold('outbox', owner, 60_000))

      expect((await Promise.all(wanted)).filter(Boolean)).toHaveLength(1)
    })
  })
}
