import { expect, test } from 'vitest'
import { ServerError } from '../domain/errors.ts'
import { createIds } from '../domain/ids.ts'
import { silentLogger } from '../domain/logger.ts'
import { createManualClock } from '../http/testing/server-fixture.ts'
import { createLocalShared } from '../store/local-shared.ts'
import type { Shared } from '../store/ports/shared.ts'
import { createAtItsPlace } from './at-its-place.ts'
import { createAlone } from './create-alone.ts'
import { openReplicaBoard } from './replica-board.ts'
import { openReplicaCalls } from './replica-calls.ts'
import { createSharedChanges } from './shared-changes.ts'

const clock = createManualClock()
const logger = silentLogger
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** In steps, so that what happens in between happens at its time. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    await settle()
    clock.advance(Math.min(left, 100))
  }
  await settle()
}

test('a change is seen everywhere within half a second, and only by those who watch its topic', async () => {
  const shared = createLocalShared(clock)
  const [here, there] = ['A', 'B'].map((owner) => createSharedChanges({ shared, owner, clock, logger }))
  const looks: string[] = []
  here?.watch('devices', () => looks.push('here'))
  const stop = there?.watch('devices', () => looks.push('there'))
  there?.watch('tokens', () => looks.push('tokens'))
  await pass(600)
  expect(looks).toEqual([])

  await here?.tell('devices')
  await pass(500)
  expect(looks.toSorted()).toEqual(['here', 'there'])

  stop?.()
  await there?.tell('devices')
  await pass(500)
  expect(looks.toSorted()).toEqual(['here', 'here', 'there'])
  here?.close()
  there?.close()
})

test('a change that was told before somebody watches, or while the store was away, is seen too', async () => {
  const shared = createLocalShared(clock)
  let isAway = false
  const flaky: Shared = { ...shared, list: (kind) => (isAway ? Promise.reject(new Error('away')) : shared.list(kind)) }
  const changes = createSharedChanges({ shared: flaky, owner: 'A', clock, logger })
  await changes.tell('devices')
  let looks = 0
  changes.watch('devices', () => {
    looks += 1
  })
  await pass(100)
  expect(looks).toBe(1)

  isAway = true
  await changes.tell('devices')
  await pass(2_000)
  expect(looks).toBe(1)
  isAway = false
  await pass(500)
  expect(looks).toBe(2)

  await changes.tell('devices')
  changes.look()
  await settle()
  expect(looks).toBe(3)
  changes.close()
})

test('a change that nobody was told of is seen after half a minute', async () => {
  const changes = createSharedChanges({ shared: createLocalShared(clock), owner: 'A', clock, logger })
  let looks = 0
  changes.watch('tokens', () => {
    looks += 1
  })
  await pass(29_000)
  expect(looks).toBe(0)
  await pass(2_000)
  expect(looks).toBe(1)
  changes.close()
})

/** A process with a copy of the records of one kind. Its store can be cut off, or slow. */
function openCopy(shared: Shared, owner: string) {
  const state = { isCut: false, answer: Promise.resolve(), copied: [] as readonly string[] }
  const reach = async <T>(work: Promise<T>): Promise<T> => {
    if (state.isCut) throw new Error('away')
    return await work
  }
  const cut: Shared = {
    ...shared,
    get: (kind, key) => reach(shared.get(kind, key)),
    list: (kind) => reach(shared.list(kind)),
    put: (record) => reach(shared.put(record)),
  }
  const changes = createSharedChanges({ shared: cut, owner, clock, logger })
  const copy = changes.keep('tokens', async () => {
    const found = (await cut.list('token')).map(({ key }) => key)
    await state.answer
    state.copied = found
  })
  return {
    ...{ state, changes, copy },
    /** What counts here, for somebody who does what the copy says. */
    async counts(): Promise<readonly string[]> {
      if (!copy.isFresh()) await copy.refresh()
      return state.copied
    },
  }
}

async function openCopies() {
  const shared = createLocalShared(clock)
  const add = (key: string) => shared.put({ kind: 'token', key, value: '', version: null, expiresAt: null })
  await add('x')
  await add('y')
  const [a, b] = [openCopy(shared, 'A'), openCopy(shared, 'B')]
  await pass(1_000)
  expect([await a.counts(), await b.counts()]).toEqual([
    ['x', 'y'],
    ['x', 'y'],
  ])
  /** Resolves with how long it took. */
  async function remove(key: string): Promise<number> {
    const began = clock.mono()
    await shared.take('token', key)
    await a.changes.tell('tokens')
    await a.changes.heard('tokens')
    return clock.mono() - began
  }
  const close = () => Promise.all([a, b].map(({ changes }) => changes.close()))
  return { shared, add, a, b, remove, close }
}

test('whoever removes a record waits until no copy has it any more', async () => {
  const { a, b, remove, close } = await openCopies()
  const slow = Promise.withResolvers<void>()
  b.state.answer = slow.promise
  let took: number | null = null
  void remove('x').then((ms) => {
    took = ms
  })
  await pass(3_000)
  // A look that began before the removal, and one for somebody who asks now: neither brings the record back.
  const asked = b.copy.refresh()
  expect([took, await a.counts(), b.state.copied]).toEqual([null, ['y'], ['x', 'y']])
  slow.resolve()
  await asked
  await pass(1_000)

  expect([took, await b.counts()]).toEqual([expect.any(Number), ['y']])
  await close()
})

test('a process that is cut off keeps others waiting for five seconds once, and does not use its copy afterwards', async () => {
  const { shared, a, b, remove, close } = await openCopies()
  b.state.isCut = true
  const first = remove('x')
  await pass(4_500)
  expect(await Promise.race([first, 'it waits'])).toBe('it waits')
  await pass(1_000)
  expect(await first).toBeGreaterThan(5_000)

  expect([await a.counts(), b.copy.isFresh()]).toEqual([['y'], false])
  await expect(b.counts()).rejects.toThrow('away')
  const second = remove('y')
  await pass(1_000)
  expect(await second).toBeLessThan(1_000)

  // It is back. Others wait for it again.
  b.state.isCut = false
  expect(await b.counts()).toEqual([])
  await pass(1_100)
  expect(b.copy.isFresh()).toBe(true)
  expect((await shared.list('heard/tokens')).map(({ key }) => key)).toEqual(['A', 'B'])
  await close()
  expect(await shared.list('heard/tokens')).toEqual([])
})

test('a process that was taken for dead while it read its copy does not count it as fresh', async () => {
  const { a, b, add, remove, close } = await openCopies()
  const slow = Promise.withResolvers<void>()
  b.state.answer = slow.promise
  const first = remove('x')
  await pass(6_000)
  await first
  // Nobody waits for it now.
  await add('z')
  const second = remove('y')
  await pass(600)
  await second
  b.state.answer = Promise.resolve()
  slow.resolve()
  await settle()
  expect(b.copy.isFresh()).toBe(false)
  await pass(1_100)
  expect([b.copy.isFresh(), b.state.copied, await a.counts()]).toEqual([true, ['z'], ['z']])
  await close()
})

test('work of one name is done by one at a time, also in one process', async () => {
  const shared = createLocalShared(clock)
  const [here, there] = ['A', 'B'].map((owner) => createAlone({ shared, owner, clock }))
  const log: string[] = []
  const work = (name: string) => async () => {
    log.push(`${name} begins`)
    await settle()
    log.push(`${name} ends`)
    return name
  }
  const done = Promise.all([here?.('x', work('1')), there?.('x', work('2')), here?.('x', work('3'))])
  await pass(1_000)

  expect(await done).toEqual(['1', '2', '3'])
  expect(log).toHaveLength(6)
  for (const i of [0, 2, 4]) expect(log[i]?.[0]).toBe(log[i + 1]?.[0])
})

test('replicas hear of each other every few seconds, and nothing more of one that has ended or died', async () => {
  const shared = createLocalShared(clock)
  let isCut = false
  const cut: Shared = { ...shared, put: (record) => (isCut ? Promise.reject(new Error('away')) : shared.put(record)) }
  const [a, b, c] = ['A', 'B', 'C'].map((owner) =>
    openReplicaBoard({ shared: owner === 'C' ? cut : shared, owner, clock, logger }),
  )
  a?.say('streams', () => 1)
  b?.say('streams', () => 2)
  c?.say('streams', () => 3)
  await pass(4_000)
  const heard = () => a?.heard('streams').map(({ replica, said }) => `${replica} ${said}`)
  expect(heard()).toEqual(['B 2', 'C 3'])
  expect(a?.heard('other')).toEqual([])

  isCut = true
  await b?.close()
  await pass(12_000)
  expect(heard()).toEqual([])
  isCut = false
  await c?.publish()
  expect((await a?.listen('streams'))?.map(({ replica }) => replica)).toEqual(['C'])
  await a?.close()
  await c?.close()
})

test('a topic with too much to say does not silence the others', async () => {
  const shared = createLocalShared(clock)
  const [a, b] = ['A', 'B'].map((owner) => openReplicaBoard({ shared, owner, clock, logger }))
  b?.say('streams', () => 'x'.repeat(1_000_000))
  b?.say('place', () => 'here')
  await b?.publish()
  expect(await a?.listen('place')).toEqual([{ replica: 'B', said: 'here' }])
  expect(await a?.listen('streams')).toEqual([])
  await a?.close()
  await b?.close()
})

test('what is too large to be passed on is refused at once, as a question and as an answer', async () => {
  const shared = createLocalShared(clock)
  const [a, b] = ['A', 'B'].map((owner) => {
    const changes = createSharedChanges({ shared, owner, clock, logger })
    return { changes, calls: openReplicaCalls({ shared, changes, owner, clock, ids: createIds(clock.now), logger }) }
  })
  b?.calls.serve('repeat', async (times) => 'x'.repeat(Number(times)))

  const refused = expect(a?.calls.ask('B', 'repeat', 1_000_000, 600_000)).rejects.toMatchObject({ code: 'conflict' })
  await pass(1_100)
  await refused
  await expect(a?.calls.ask('B', 'repeat', 'x'.repeat(1_000_000), 600_000)).rejects.toMatchObject({ code: 'conflict' })
  for (const one of [a, b]) one?.changes.close()
})

test('a replica asks another one, gets its answer or its error, and null when nobody answers', async () => {
  const shared = createLocalShared(clock)
  const [a, b] = ['A', 'B'].map((owner) => {
    const changes = createSharedChanges({ shared, owner, clock, logger })
    return { changes, calls: openReplicaCalls({ shared, changes, owner, clock, ids: createIds(clock.now), logger }) }
  })
  let isDone = 0
  b?.calls.serve('add', async (asked) => {
    isDone += 1
    const [x, y] = asked as [number, number]
    if (y === 0) throw new ServerError('limit', 'no more', { details: { most: 1 } })
    return x + y
  })

  const sum = a?.calls.ask('B', 'add', [1, 2], 5_000)
  await pass(1_100)
  expect(await sum).toEqual({ answer: 3 })
  const refused = expect(a?.calls.ask('B', 'add', [1, 0], 5_000)).rejects.toMatchObject({
    code: 'limit',
    message: 'no more',
    details: { most: 1 },
  })
  await pass(1_100)
  await refused
  expect(isDone).toBe(2)

  const gone = a?.calls.ask('C', 'add', [1, 2], 3_000)
  await pass(3_100)
  expect(await gone).toBeNull()
  expect([await shared.list('question/C'), await shared.list('question/B'), await shared.list('answer/A')]).toEqual([
    ...[[], [], []],
  ])
  for (const one of [a, b]) one?.changes.close()
})

test('work is done by the server that has the files, and a server that is gone is named', async () => {
  const shared = createLocalShared(clock)
  const [a, b] = ['A', 'B'].map((owner) => {
    const changes = createSharedChanges({ shared, owner, clock, logger })
    const calls = openReplicaCalls({ shared, changes, owner, clock, ids: createIds(clock.now), logger })
    const board = openReplicaBoard({ shared, owner, clock, logger })
    const atItsPlace = createAtItsPlace({ place: `${owner.toLowerCase()}:/data`, board, calls })
    const placeOf = async ([name]: [string]) => (name === 'unknown' ? undefined : `${name}:/data`)
    const run = atItsPlace('run', placeOf, async (name: string) => `${name} at ${owner}`)
    const hang = atItsPlace('hang', placeOf, (_name: string) => new Promise<never>(() => {}))
    return { changes, board, run, hang }
  })
  await pass(2_000)

  const done = Promise.all(['a', 'b', 'unknown'].map((name) => a?.run(name)))
  await pass(2_000)
  expect(await done).toEqual(['a at A', 'b at B', 'unknown at A'])
  const hanging = expect(a?.hang('b')).rejects.toMatchObject({ code: 'conflict', details: { machine: 'b' } })
  await pass(30_000)
  await b?.board.close()
  await pass(5_000)
  await hanging
  await expect(a?.run('b')).rejects.toMatchObject({ code: 'conflict', details: { machine: 'b' } })
  await a?.board.close()
  for (const one of [a, b]) one?.changes.close()
})
