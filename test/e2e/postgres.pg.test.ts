// Every door on two servers that share a Postgres. No two requests in a row reach the same server.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { say } from './door-talk.ts'
import { agUiInput, framesOf, streamingDoors, waitingDoors } from './doors.ts'
import { startScriptedApp } from './scripted-app.ts'
import { openTestStore, type TestStore } from './test-store.ts'

/** For a machine that has other things to do. */
const BUSY_MS = 300_000

const answers = [{ when: '?', parts: [{ text: 'Two ' }, { text: 'ships.' }] }]

let store: TestStore
let apps: Awaited<ReturnType<typeof startScriptedApp>>[] = []
let turn = 0

beforeAll(async () => {
  store = await openTestStore()
  // One after the other: each loads the whole program.
  for (let i = 0; i < 2; i += 1) apps.push(await startScriptedApp(answers, [], store))
}, BUSY_MS)

afterAll(async () => {
  for (const app of apps) await app[Symbol.asyncDispose]()
  apps = []
  await store[Symbol.asyncDispose]()
}, BUSY_MS)

function nextUrl(): string {
  turn += 1
  return apps[turn % apps.length]?.url ?? ''
}

const house = {
  post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(nextUrl() + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }),
  get: (path: string) => fetch(nextUrl() + path),
}

/** Some doors find sessions, and make none. */
async function newSession(): Promise<string> {
  const session = crypto.randomUUID()
  await (await house.post('/', agUiInput({ session, message: 'Who is there?' }))).text()
  return session
}

/** What was said in a session: roles and texts. */
async function said(session: string): Promise<string[]> {
  const { messages }: { messages: { role: string; content: string }[] } = JSON.parse(
    await (await house.get(`/sessions/${session}`)).text(),
  )
  return messages.map(({ role, content }) => `${role}: ${content}`)
}

const talk = ['Who is there?', 'What is there?', 'And now?'].flatMap((text) => [
  `user: ${text}`,
  'assistant: Two ships.',
])

describe('two servers on one Postgres', { timeout: BUSY_MS }, () => {
  for (const door of streamingDoors) {
    test(`${door.name} streams at either of them, in one session`, async () => {
      const session = await newSession()
      for (const message of ['What is there?', 'And now?']) {
        let text = ''
        let end: string | null = null
        for await (const frame of framesOf(await door.send(house, { session, message }))) {
          text += door.textOf(frame)
          end = door.endOf(frame) ?? end
        }
        expect([text, end]).toEqual(['Two ships.', end === '[DONE]' ? '[DONE]' : 'success'])
      }
      expect(await said(session)).toEqual(talk)
    })
  }

  for (const door of waitingDoors) {
    test(`${door.name} answers at either of them, in one session`, async () => {
      const session = await newSession()
      for (const message of ['What is there?', 'And now?']) {
        expect(await say(door, house, { session, message })).toBe('Two ships.')
      }
      expect(await said(session)).toEqual(talk)
    })
  }
})
