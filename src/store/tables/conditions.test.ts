import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { allKinds, recordKinds } from '../../domain/records/record-kinds.ts'
import { activityOf, type SessionWork, sessionActivities } from '../../domain/session/session-overview.ts'
import { supervisedStatuses } from '../../domain/supervision/supervision.ts'
import { activityConditions, DONE_RECORD } from './conditions.ts'

const either = [false, true]
const everySession: SessionWork[] = [null, ...supervisedStatuses].flatMap((supervised) =>
  either.flatMap((isRunning) =>
    either.flatMap((hasQueued) =>
      [0, 2].flatMap((pending) =>
        [null, 'It broke.'].map((failure) => ({ supervised, isRunning, hasQueued, pending, failure })),
      ),
    ),
  ),
)

test('the lists of a database find a session under the word that `activityOf` has for it, and under no other', () => {
  const db = new DatabaseSync(':memory:')
  db.exec(
    'CREATE TABLE sessions (id INTEGER, supervised TEXT, running INTEGER, queued INTEGER, pending INTEGER, failure TEXT)',
  )
  const insert = db.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)')
  everySession.forEach(({ supervised, isRunning, hasQueued, pending, failure }, i) => {
    insert.run(i, supervised, Number(isRunning), Number(hasQueued), pending, failure)
  })
  const conditions = activityConditions({
    supervised: 'supervised',
    running: (is) => `id ${is} (SELECT id FROM sessions WHERE running = 1)`,
    queued: (is) => `id ${is} (SELECT id FROM sessions WHERE queued = 1)`,
    waiting: (is) => `id ${is} (SELECT id FROM sessions WHERE pending > 0)`,
    failure: 'failure',
  })

  for (const activity of sessionActivities) {
    const found = db.prepare(`SELECT id FROM sessions WHERE ${conditions[activity]} ORDER BY id`).all()
    const expected = everySession.flatMap((work, id) => (activityOf(work) === activity ? [id] : []))
    expect(found.map(({ id }) => id)).toEqual(expected)
  }
  db.close()
})

test.each(['sqlite/migrations.ts', 'postgres/schema.ts'])(
  'the indexes of %s that name statuses of records name the one in which every kind begins and can run out of time, and those that are done',
  (file) => {
    const text = readFileSync(join(import.meta.dirname, '..', file), 'utf8')
    const conditions = [...text.matchAll(/CREATE INDEX \w+ ON waits [^;]*? WHERE ([^;]*\bstatus\b[^;]*);/g)]

    expect(conditions.map(([, condition]) => condition)).toEqual(["status = 'pending'", DONE_RECORD])
    for (const kind of allKinds) expect(recordKinds[kind].open[0]).toBe('pending')
    for (const over of ['expired', 'timeout']) {
      const before = allKinds.flatMap((kind) => {
        const arrows: Readonly<Record<string, readonly string[]>> = recordKinds[kind].next
        return Object.keys(arrows).filter((status) => arrows[status]?.includes(over))
      })
      expect(new Set(before)).toEqual(new Set(['pending']))
    }
  },
)
