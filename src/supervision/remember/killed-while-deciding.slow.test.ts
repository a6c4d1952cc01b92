// kill -9 between the yes and what is remembered with it: after the restart there are both, or none.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import { askElsewhere } from '../testing/ask-elsewhere.ts'
import { newSession, openSupervision } from '../testing/open-supervision.ts'

/** More than a decision does to the database. */
const MOST_STEPS = 300

test('a yes and its grant are written together, wherever the process dies', { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-killed-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [asked, compiled] = [join(folder, 'asked'), join(folder, 'compiled')]
  const approvalId = await ask(join(asked, 'store.db'))
  const ends: string[] = []
  const found: string[] = []
  while (ends.at(-1) !== 'finished' && ends.length < MOST_STEPS) {
    const copy = join(folder, `killed-${ends.length + 1}`)
    cpSync(asked, copy, { recursive: true })
    ends.push(await decide(join(copy, 'store.db'), approvalId, ends.length + 1, compiled))
    const left = await readBack(join(copy, 'store.db'), approvalId)
    expect([NOTHING, BOTH]).toContainEqual(left)
    found.push(left.status ?? '')
    rmSync(copy, { recursive: true })
  }
  expect(ends.at(-1)).toBe('finished')
  expect(new Set(ends.slice(0, -1))).toEqual(new Set(['SIGKILL']))
  // It died before the commit and after it, and whoever came to the end has both.
  expect(found).toEqual(found.toSorted().toReversed())
  expect(new Set(found.slice(0, -1))).toEqual(new Set(['pending', 'approved']))
  expect(found.at(-1)).toBe('approved')
})

const NOTHING = { status: 'pending', grants: 0, decisions: 0, made: 0 }
const BOTH = { status: 'approved', grants: 1, decisions: 1, made: 1 }

async function ask(path: string): Promise<string> {
  const store = openTestStore(path)
  const clock = createManualClock(createSystemClock().now())
  const service = openSupervision({ store, clock })
  const session = await service.sessions.create(newSession('/srv/shop'))
  const { id } = await askElsewhere(service.takeStep, session, service.ids.uuid())
  await service.log.close()
  await store.close()
  return id
}

/** Returns the signal that ended the process, or `finished`. */
async function decide(path: string, approvalId: string, step: number, compiled: string): Promise<string> {
  const program = join(import.meta.dirname, '../testing/decide-until-killed.ts')
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled }
  const args = [program, path, approvalId, String(step)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  await once(child, 'exit')
  return child.signalCode ?? (child.exitCode === 0 ? 'finished' : 'failed')
}

/** As a server finds it that starts again. */
async function readBack(path: string, approvalId: string) {
  const store = openTestStore(path)
  try {
    const grants = (await store.grants.list({ now: 0 })).filter((one) => one.approvalId === approvalId)
    const trail = (await store.audit.entries(0, 1_000)).map(({ text }) => JSON.parse(text).kind)
    const count = (kind: string) => trail.filter((one) => one === kind).length
    const { status } = (await store.waits.get(approvalId)) ?? {}
    return { status, grants: grants.length, decisions: count('decision'), made: count('grant_made') }
  } finally {
    await store.close()
  }
}
