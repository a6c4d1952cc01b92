import { describe, expect, test } from 'vitest'
import { ServerError } from '../../../src/domain/errors.ts'
import type { RunRecord } from '../../../src/domain/session/run.ts'
import {
  accept,
  acceptedRun,
  append,
  done,
  fact,
  finish,
  NOW,
  newMessage,
  newSession,
  readSession,
  text,
} from '../../../src/store/contract/samples.contract.ts'
import type { Store } from '../../../src/store/store.ts'
import { createManualClock, type ManualClock, settled } from './manual-clock.ts'
import { crash, createMemoryDisk, type Keep, type MemoryDisk } from './memory-disk.ts'
import { SEQ_BLOCK } from './memory-state.ts'
import { createMemoryStore, type StorageFault, type StorageFaults } from './memory-store.ts'

const stateOf = async (promise: Promise<unknown>): Promise<'pending' | 'resolved' | 'rejected'> => {
  let state: 'pending' | 'resolved' | 'rejected' = 'pending'
  promise.then(
    () => {
      state = 'resolved'
    },
    () => {
      state = 'rejected'
    },
  )
  await settled()
  return state
}

/** A store on what a crash at this moment would leave. The first store goes on. */
const leftOn = (disk: MemoryDisk, keep: Keep): Store => createMemoryStore({ disk: crash({ ...disk }, { keep }) })

describe('a crash', () => {
  async function talk(disk: MemoryDisk): Promise<RunRecord> {
    const store = createMemoryStore({ disk })
    const run = await acceptedRun(store, accept(newSession()))
    for (const word of ['a', 'b', 'c']) await done(store, append(run, [text(word)]))
    return run
  }

  test.each<[string, Keep, number]>([
    ['of the process keeps everything written', 'written', 5],
    ['of the machine keeps everything synced', 'synced', 2],
    ['of the machine may keep the first unsynced commits', (unsynced) => unsynced - 1, 4],
    ['of the machine keeps no more than there is', () => 100, 5],
    ['of the machine keeps no less than was synced', () => -100, 2],
  ])('%s', async (_, keep, head) => {
    const disk = createMemoryDisk()
    const run = await talk(disk)

    const store = createMemoryStore({ disk: crash(disk, { keep }) })

    expect(await store.head(run.sessionId)).toBe(head)
  })

  test('of the process syncs nothing, so a power cut after it takes the rest', async () => {
    const disk = createMemoryDisk()
    const run = await talk(disk)

    const killed = crash(disk, { keep: 'written' })

    expect(await createMemoryStore({ disk: crash(killed, { keep: 'synced' }) }).head(run.sessionId)).toBe(2)
  })

  test('leaves the given disk as it was', async () => {
    const disk = createMemoryDisk()
    const run = await talk(disk)
    const copy = crash(disk, { keep: 'synced' })
    await done(createMemoryStore({ disk: copy }), { type: 'renew_lease', leaseOwner: 'x', until: NOW })

    expect(await createMemoryStore({ disk }).head(run.sessionId)).toBe(5)
  })

  test('ends the store: pending calls are never answered', async () => {
    const clock = createManualClock(NOW)
    const disk = createMemoryDisk()
    const store = createMemoryStore({ disk, clock, faults: () => ({ delayMs: 5 }) })
    const committed = store.commit([accept(newSession())]).then(({ synced }) => synced)

    crash(disk, { keep: 'written' })

    await clock.advance(10)
    expect(await stateOf(committed)).toBe('pending')
    expect(disk.synced).toBe(0)
  })

  test('ends the store: only the next one that opens the disk works', async () => {
    const disk = createMemoryDisk()
    const before = createMemoryStore({ disk })
    const after = createMemoryStore({ disk })
    const session = newSession()

    expect(await stateOf(before.commit([accept(session)]))).toBe('pending')
    expect(await stateOf(before.sessions.get(session.id))).toBe('pending')
    expect(await after.sessions.get(session.id)).toBe(null)
  })
})

describe('opening a disk', () => {
  test('finds what another store wrote', async () => {
    const disk = createMemoryDisk()
    const session = newSession({ alias: 'name' })
    const store = createMemoryStore({ disk })
    const run = await acceptedRun(store, accept(session, { start: { messages: [newMessage('q')], state: null } }))
    await done(store, append(run, [text('a')]))
    const before = await readSession(store, session, [run])

    const opened = [createMemoryStore({ disk: crash(disk, { keep: 'written' }) }), createMemoryStore({ disk })]

    expect(await Promise.all(opened.map((other) => readSession(other, session, [run])))).toEqual([before, before])
  })
})

describe('seqs after a restart', () => {
  test('continue without a gap if nothing was running, and after the block if something was', async () => {
    const disk = createMemoryDisk()
    const store = createMemoryStore({ disk })
    const [idle, busy] = [newSession(), newSession()]
    const ended = await acceptedRun(store, accept(idle))
    await done(store, append(ended, [text('a')]))
    await done(store, finish(ended))
    await done(store, accept(busy))

    const reopened = createMemoryStore({ disk: crash(disk, { keep: 'written' }) })

    expect((await done(reopened, accept(idle))).firstSeq).toBe(5)
    expect((await done(reopened, accept(busy))).firstSeq).toBe(2 + SEQ_BLOCK + 1)
  })
})

describe('a fault', () => {
  const full: StorageFaults = () => {
    throw new ServerError('storage_full', 'The disk is full.')
  }
  const at =
    (number: number, fault: StorageFault): StorageFaults =>
    (operation) =>
      operation.number === number ? fault : undefined

  test('is asked for before each commit and each sync', async () => {
    const asked: string[] = []
    const store = createMemoryStore({ faults: ({ number, kind }) => void asked.push(`${number} ${kind}`) })

    const run = await acceptedRun(store, accept(newSession()))
    await done(store, append(run, [text('a')]))
    await done(store, finish(run))
    await store.check()

    expect(asked).toEqual(['1 commit', '2 sync', '3 commit', '4 commit', '5 sync', '6 commit'])
  })

  test('in a commit leaves nothing of it, and the store goes on', async () => {
    let isFull = true
    const disk = createMemoryDisk()
    const store = createMemoryStore({ disk, faults: (operation) => (isFull ? full(operation) : undefined) })
    const session = newSession()

    await expect(store.commit([accept(session)])).rejects.toMatchObject({ code: 'storage_full' })
    await expect(store.check()).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await store.sessions.get(session.id)).toBe(null)

    isFull = false
    await store.check()
    await done(store, accept(session))
    expect(await createMemoryStore({ disk }).head(session.id)).toBe(2)
  })

  test('that delays a sync lets the commit be read, and confirms it later', async () => {
    const clock = createManualClock(NOW)
    const disk = createMemoryDisk()
    const store = createMemoryStore({
      disk,
      clock,
      faults: ({ kind }) => (kind === 'sync' ? { delayMs: 5 } : undefined),
    })
    const session = newSession()

    const { synced } = await store.commit([accept(session)])

    expect(await store.head(session.id)).toBe(2)
    expect(await stateOf(synced)).toBe('pending')
    expect(await leftOn(disk, 'synced').head(session.id)).toBe(0)
    await clock.advance(4)
    expect(await stateOf(synced)).toBe('pending')
    await clock.advance(1)
    expect(await stateOf(synced)).toBe('resolved')
    expect(await leftOn(disk, 'synced').head(session.id)).toBe(2)
  })

  test('that delays a sync does not confirm what was written in the meantime', async () => {
    const clock = createManualClock(NOW)
    const disk = createMemoryDisk()
    let delayMs = 0
    const store = createMemoryStore({ disk, clock, faults: ({ kind }) => (kind === 'sync' ? { delayMs } : undefined) })
    const session = newSession()
    const run = await acceptedRun(store, accept(session))
    delayMs = 5
    await store.commit([append(run, [fact('a')], { sync: true })])
    await store.commit([append(run, [text('b')])])

    await clock.advance(5)

    expect(await leftOn(disk, 'synced').head(session.id)).toBe(3)
  })

  test('that delays a commit delays its answer', async () => {
    const clock = createManualClock(NOW)
    const store = createMemoryStore({ clock, faults: at(1, { delayMs: 5 }) })
    const session = newSession()

    const committed = store.commit([accept(session)])

    expect(await stateOf(committed)).toBe('pending')
    await clock.advance(5)
    expect(await stateOf(committed)).toBe('resolved')
  })

  test('that delays needs a clock', async () => {
    const store = createMemoryStore({ faults: () => ({ delayMs: 5 }) })

    await expect(store.commit([])).rejects.toThrow('needs a clock')
  })

  test.each([
    ['before a commit', 3, 'before', 2],
    ['after a commit, unheard', 3, 'after', 3],
    ['before the sync', 4, 'before', 3],
    ['after the sync, unheard', 4, 'after', 3],
  ] as const)('that kills the process %s leaves what was written', async (_, number, dies, head) => {
    const disk = createMemoryDisk()
    const store = createMemoryStore({ disk, faults: at(number, { dies }) })
    const run = await acceptedRun(store, accept(newSession()))

    const answer = store.commit([append(run, [fact('f')], { sync: true })]).then(({ synced }) => synced)

    expect(await stateOf(answer)).toBe('pending')
    expect(await stateOf(store.head(run.sessionId))).toBe('pending')
    expect(await leftOn(disk, 'written').head(run.sessionId)).toBe(head)
    const kept = number === 4 && dies === 'after' ? 3 : 2
    expect(await leftOn(disk, 'synced').head(run.sessionId)).toBe(kept)
  })

  test('in a sync ends the process: nothing is acknowledged or tried again', async () => {
    const disk = createMemoryDisk()
    const asked: number[] = []
    const store = createMemoryStore({
      disk,
      faults(operation) {
        asked.push(operation.number)
        if (operation.kind === 'sync') full(operation)
        return undefined
      },
    })
    const session = newSession()

    expect(await stateOf(store.commit([accept(session)]))).toBe('pending')
    expect(await stateOf(store.commit([accept(session)]))).toBe('pending')
    expect(asked).toEqual([1, 2])
  })
})

describe('a slow disk', () => {
  const slow = () => {
    const clock = createManualClock(NOW)
    const disk = createMemoryDisk()
    const faults: StorageFaults = ({ kind }) => (kind === 'sync' ? { delayMs: 5 } : undefined)
    return { clock, disk, store: createMemoryStore({ disk, clock, faults }) }
  }
  async function running(store: Store, clock: ManualClock): Promise<RunRecord> {
    const { results, synced } = await store.commit([accept(newSession())])
    await clock.advance(5)
    await synced
    const [result] = results
    if (result?.ok !== true || result.run === undefined) throw new Error('the run was refused')
    return result.run
  }

  test('does not delay text until a block of seqs is used up', async () => {
    const { clock, store } = slow()
    const run = await running(store, clock)
    const block = Array.from({ length: SEQ_BLOCK - 1 }, () => text('x'))

    expect(await stateOf(store.commit([append(run, block)]))).toBe('resolved')
    const beyond = store.commit([append(run, [text('x'), text('y')])])
    const behind = store.commit([append(run, [text('z')])])

    expect([await stateOf(beyond), await stateOf(behind)]).toEqual(['pending', 'pending'])
    await clock.advance(5)
    expect([await stateOf(beyond), await stateOf(behind)]).toEqual(['resolved', 'resolved'])
    expect(await stateOf(store.commit([append(run, [text('!')])]))).toBe('resolved')
  })

  test('delays text until the block that a synced neighbour began is on disk', async () => {
    const { clock, store } = slow()
    const run = await running(store, clock)
    await store.commit([
      append(
        run,
        Array.from({ length: SEQ_BLOCK - 1 }, () => text('x')),
      ),
    ])
    await store.commit([append(run, [fact('a'), fact('b')], { sync: true })])

    const behind = store.commit([append(run, [text('x')])])

    expect(await stateOf(behind)).toBe('pending')
    await clock.advance(5)
    expect(await stateOf(behind)).toBe('resolved')
  })

  test('delays only the session whose block is not on disk', async () => {
    const { clock, store } = slow()
    const [one, two] = [await running(store, clock), await running(store, clock)]
    await store.commit([
      append(
        one,
        Array.from({ length: SEQ_BLOCK }, () => text('x')),
        { sync: true },
      ),
    ])

    expect(await stateOf(store.commit([append(one, [text('x')])]))).toBe('pending')
    expect(await stateOf(store.commit([append(two, [text('x')])]))).toBe('resolved')
  })

  test('delays the answer to a repeated request until the first one is on disk', async () => {
    const { clock, store } = slow()
    const idempotency = { key: 'k', digest: 'd', expiresAt: NOW + 1 }
    await store.commit([accept(newSession(), { idempotency })])

    const again = await store.commit([accept(newSession(), { idempotency })])

    expect(again.results).toMatchObject([{ existing: true }])
    expect(await stateOf(again.synced)).toBe('pending')
    await clock.advance(5)
    expect(await stateOf(again.synced)).toBe('resolved')
  })
})
