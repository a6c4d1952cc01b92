// A server that is killed again and again around the times of its schedules.

import { expect, onTestFinished, test } from 'vitest'
import { databaseFaults, withDatabaseCopy } from './support/database.ts'
import { openYard } from './support/start-server.ts'

const KILLS = 12

test('kill -9 around its times: a schedule starts one run for each time, and notes none that it has not started', {
  timeout: 240_000,
}, async () => {
  const yard = await openYard(onTestFinished, {
    answers: [{ parts: [{ delay_ms: 50 }, { text: 'Nothing new.' }] }],
    agent: {
      schedules: [
        { name: 'own', every: '1s', message: 'Look.' },
        { name: 'same', every: '1s', message: 'Look.', session: 'watch' },
      ],
    },
  })
  for (let kill = 0; kill < KILLS; kill += 1) {
    const server = await yard.start()
    // Every part of a second comes up.
    await new Promise((resolve) => setTimeout(resolve, 1_500 + ((kill * 370) % 1_000)))
    await server.kill()
  }
  const last = await yard.start()
  await new Promise((resolve) => setTimeout(resolve, 3_500))
  await last.kill()

  const { runs, notes } = await withDatabaseCopy(yard, (db) => ({
    runs: db
      .prepare('SELECT input FROM runs')
      .all()
      .map(({ input }) => JSON.parse(String(input)).context[0] as { description: string; value: string }),
    notes: db.prepare("SELECT key, value FROM channel_notes WHERE channel = 'kept schedules'").all(),
  }))
  for (const name of ['own', 'same']) {
    const dues = runs
      .filter(({ description }) => description.endsWith(` ${name} sends this message`))
      .map(({ value }) => value)
    expect(dues.length).toBeGreaterThan(KILLS)
    expect(dues.toSorted()).toEqual([...new Set(dues)].toSorted())
    const state = JSON.parse(String(notes.find(({ key }) => String(key).endsWith(`.${name}`))?.value))
    expect(Math.max(...dues.map((due) => Date.parse(due)))).toBeLessThanOrEqual(state.upTo + 1_000)
    const noted = state.past.map(({ due }: { due: number }) => new Date(due).toISOString())
    expect(noted.filter((due: string) => !dues.includes(due))).toEqual([])
  }
  expect(await databaseFaults(yard)).toEqual([])
})
