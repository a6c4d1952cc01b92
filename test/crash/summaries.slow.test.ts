// A conversation that becomes too long for its model, and a server that is killed again and again while the older part of it is summarized.

import { expect, onTestFinished, test } from 'vitest'
import { SUMMARIES, type Summary } from '../../src/domain/session/summary.ts'
import { databaseFaults, withDatabaseCopy } from './support/database.ts'
import { openYard, type TestServer } from './support/start-server.ts'

const TURNS = 60
const notes = {
  answers: [{ parts: [{ delay_ms: 150 }, { text: '# Story\nThey counted.' }, { usage: { input: 100, output: 5 } }] }],
  loop: true,
}

async function say(server: TestServer, session: string | null, message: string): Promise<string> {
  const answer = await fetch(`${server.url}/chat`, {
    ...{ method: 'POST', headers: { 'Content-Type': 'application/json' } },
    body: JSON.stringify({ message, session_id: session }),
  })
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { session_id: string }).session_id
}

test('kill -9 while a summary is made leaves one summary for each part, and no turn is lost', {
  timeout: 240_000,
}, async () => {
  const yard = await openYard(onTestFinished, {
    model: { provider: 'scripted', name: 'script', script: 'script.json', context_window: 2_000 },
    answers: [{ parts: [{ text: 'So it is. '.repeat(10) }] }],
    agent: { context: { mode: 'summarize', model: { provider: 'scripted', script: 'notes.json' } } },
    files: { 'notes.json': JSON.stringify(notes) },
  })
  let server = await yard.start()
  let session: string | null = null
  for (let turn = 0; turn < TURNS; turn += 1) {
    session = await say(server, session, `Count ${turn}: ${'and so on '.repeat(20)}`)
    // At each of these, notes may be asked for, be under way, or just be stored.
    if (turn % 6 === 5) {
      await new Promise((resolve) => setTimeout(resolve, (turn * 37) % 220))
      await server.kill()
      server = await yard.start()
    }
  }
  await server.kill()
  const { summaries, asked } = await withDatabaseCopy(yard, (db) => ({
    asked: db.prepare("SELECT id FROM messages WHERE role = 'user'").all(),
    summaries: db
      .prepare(`SELECT extra FROM messages WHERE lane = '${SUMMARIES}' ORDER BY mid`)
      .all()
      .map(({ extra }): Summary => JSON.parse(String(extra)).activity.content),
  }))

  expect(asked.length).toBe(TURNS)
  expect(summaries.length).toBeGreaterThan(2)
  expect(new Set(summaries.map(({ upTo }) => upTo)).size).toBe(summaries.length)
  // Each covers what the one before has covered, and more.
  const covered = summaries.map(({ messages }) => messages)
  expect(covered).toEqual([...new Set(covered)].toSorted((a, b) => a - b))
  expect(await databaseFaults(yard)).toEqual([])
})
