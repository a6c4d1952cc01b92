import { expect, test } from 'vitest'
import type { FileRecord } from '../../domain/session/file.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import {
  accept,
  acceptedRun,
  append,
  askedElsewhere,
  done,
  finish,
  newApproval,
  newRun,
  newSession,
  supervisionSample,
  text,
} from '../../store/contract/samples.contract.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import type { Store } from '../../store/store.ts'
import { openEngine, outline, testAgent } from '../testing/open-engine.ts'
import { openJanitor } from '../testing/open-janitor.ts'
import type { JanitorDeps } from './janitor.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The clock of these tests stands still, so each test advances it. */
async function openHouse(agent: Parameters<typeof openEngine>[0] = {}, more: Partial<JanitorDeps> = {}) {
  const clock = createManualClock()
  const house = openEngine({ clock, answers: [{ parts: [{ text: 'tick ', repeat: 50 }] }], ...agent })
  const sessions = { ttlSeconds: 1_800, retentionDays: 30 }
  const janitor = openJanitor({ ...house, sessions, ...more })
  const settle = async <T>(work: Promise<T>): Promise<T> => {
    let done = false
    void work.finally(() => {
      done = true
    })
    while (!done) await clock.advance(5)
    return work
  }
  return { ...house, clock, settle, sweep: () => settle(janitor.sweep()) }
}

test('a session that is idle for too long is compacted to one delta per message, and reads the same', async () => {
  const { engine, start, events, sweep, settle, clock, close } = await openHouse()
  const accepted = await settle(start('go'))
  const before = await settle(events(accepted))
  await clock.advance(HOUR)
  await sweep()

  const after = await settle(events(accepted))
  expect(outline(after)).toEqual([
    'RUN_STARTED',
    'STEP_STARTED step_1',
    'TEXT_MESSAGE_START',
    `TEXT_MESSAGE_CONTENT ${'tick '.repeat(50)}`,
    'TEXT_MESSAGE_END',
    'STEP_FINISHED step_1',
    'RUN_FINISHED success',
  ])
  expect(outline(before)).toHaveLength(after.length + 49)

  // A reader that was in the middle sees the rest of the text once.
  const entries = await engine.sessions.entries(accepted.session.id, 0, 10)
  const seq = entries[4]?.spans?.[19]?.[0] ?? 0
  expect(outline(await settle(events(accepted, seq)))[0]).toBe(`TEXT_MESSAGE_CONTENT ${'tick '.repeat(30)}`)
  await settle(close())
})

test('a long log is compacted in pieces, so that other commits need not wait for all of it', async () => {
  const stored = openTestStore()
  const pieces: { entries: number; spans: number }[] = []
  const store: Store = {
    ...stored,
    commit(commands) {
      for (const command of commands) {
        if (command.type !== 'compact_session') continue
        const spans = command.entries.reduce((sum, one) => sum + (one.spans?.length ?? 0), 0)
        pieces.push({ entries: command.entries.length, spans })
      }
      return stored.commit(commands)
    },
  }
  const { sweep, settle, clock, close } = await openHouse({ store })
  const session = newSession({ agent: 'tester', createdAt: clock.now(), lastActivity: clock.now() })
  const run = newRun(session.id, { agent: 'tester', createdAt: clock.now() })
  const accepted = await acceptedRun(store, accept(session, { run }))
  await done(
    store,
    append(
      accepted,
      Array.from({ length: 12_000 }, () => text('tick ')),
    ),
  )
  await done(store, finish(accepted, { now: clock.now() }))
  await clock.advance(HOUR)
  await sweep()

  // Before and after the text are the entries of the start and of the end.
  expect(pieces).toEqual([
    { entries: 3, spans: 4_998 },
    { entries: 1, spans: 5_000 },
    { entries: 2, spans: 2_002 },
  ])
  expect(await store.sessions.toCompact(clock.now(), 10)).toEqual([])
  await settle(close())
})

test('sessions are kept as long as their agent says', async () => {
  const agent = { sessions: { ...testAgent.sessions, retentionDays: 7 } }
  const { engine, start, events, sweep, settle, clock, close } = await openHouse({ agent })
  await settle(events(await settle(start('go', { session: { create: { alias: 'old' } } }))))
  await clock.advance(5 * DAY)
  await settle(events(await settle(start('go', { session: { create: { alias: 'new' } } }))))
  await clock.advance(3 * DAY)
  await sweep()
  const left = await Promise.all(
    ['old', 'new'].map(async (alias) => (await engine.sessions.find('local_user', alias)) !== null),
  )
  expect(left).toEqual([false, true])
  await settle(close())
})

test('what an agent elsewhere asked is left to its own part when its time is over', async () => {
  const expired: string[] = []
  const expireElsewhere = async ({ id }: { id: string }) => void expired.push(id)
  const { store, ids, sweep, settle, clock, close } = await openHouse({}, { expireElsewhere })
  const session = newSession({ supervision: supervisionSample })
  const run = { id: ids.uuid(), sessionId: session.id, owner: 'ann', agent: 'claude-code' }
  const asked = {
    ...newApproval({ ...newRun(session.id), ...run }, { expiresAt: clock.now() + HOUR }),
    supervised: askedElsewhere,
  }
  await settle(
    store.commit([{ type: 'supervise', sessionId: session.id, now: clock.now(), create: session, ask: [asked] }]),
  )
  await sweep()
  expect(expired).toEqual([])

  await clock.advance(HOUR)
  await sweep()

  expect(expired).toEqual([asked.id])
  expect((await store.waits.get(asked.id))?.status).toBe('pending')
  await settle(close())
})

test.each<[string, Partial<JanitorDeps>, number]>([
  ['for a day', {}, DAY],
  ['as long as is configured', { unsentFileSeconds: 3 * 3_600 }, 3 * HOUR],
])('a file that is never sent is kept %s, then deleted', async (_how, more, kept) => {
  let swept = 0
  const files = {
    async sweep() {
      swept += 1
    },
  }
  const { store, log, ids, sweep, settle, clock, close } = await openHouse({}, { files, ...more })
  const file: FileRecord = {
    id: ids.uuid(),
    owner: 'local_user',
    sessionId: null,
    name: 'a.txt',
    mimeType: 'text/plain',
    bytes: 1,
    sha256: 'f'.repeat(64),
    createdAt: clock.now(),
  }
  await settle(log.commit({ type: 'add_file', file }))
  await clock.advance(kept - HOUR)
  await sweep()
  expect([await store.files.get(file.id), swept]).toEqual([file, 1])
  await clock.advance(HOUR + 1_000)
  await sweep()
  expect([await store.files.get(file.id), swept]).toEqual([null, 2])
  await settle(close())
})
