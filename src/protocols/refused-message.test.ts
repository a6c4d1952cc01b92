import { expect, test } from 'vitest'
import { createSqliteStore } from '../store/sqlite/sqlite-store.ts'
import { createAgUiRoutes } from './ag-ui/routes.ts'
import { createAgentRoutes } from './agent/routes.ts'
import { createSessionRoutes } from './manage/sessions/routes.ts'
import { createOpenAiRoutes } from './openai/routes.ts'
import { openRoutes } from './shared/answer/testing/open-routes.ts'
import { createThreadRoutes } from './threads/routes.ts'

const agUi = (content: unknown) => ({ threadId: 't', runId: 'r', messages: [{ id: 'm', role: 'user', content }] })
const turns = (content: unknown) => ({ messages: [{ role: 'user', content }], stream: true })

const noText = Buffer.alloc(100, '\0\x01\x02\x03').toString('base64')
const files = [{ content: noText, mime_type: 'text/plain', filename: 'a.txt' }]
const tooLong = 'x'.repeat(100_001)
const data = { filename: 'a.txt', file_data: `data:text/plain;base64,${noText}` }

/** First messages that no door takes. */
const messages: [string, string, unknown[]][] = [
  ['AG-UI', '/', [agUi(tooLong), { ...agUi('Hi'), tools: 1 }]],
  ['the agent routes', '/agent/tester/chat/stream', [{ message: tooLong }, { message: 'Hi', files }]],
  ['an unknown agent', '/agent/nobody/chat', [{ message: 'Hi' }]],
  ['threads', '/chat', [{ message: tooLong, stream: true }]],
  [
    'chat completions',
    '/v1/chat/completions',
    [turns(tooLong), turns([{ type: 'file', file: data }]), { ...turns('Hi'), model: 'nobody' }],
  ],
  [
    'responses',
    '/v1/responses',
    [{ input: tooLong }, { input: 'Hi', model: 'nobody' }, { input: 'Hi', previous_response_id: 'resp_none' }],
  ],
  [
    'the background routes',
    '/sessions/t/messages',
    [{ message: tooLong }, { message: 'Hi', files }, { message: 'Hi', agent: 'nobody' }],
  ],
]

/** Counts the messages that were accepted, in sessions of every kind. */
async function openCounting() {
  const store = createSqliteStore({
    path: ':memory:',
    fatal: (error) => {
      throw error
    },
  })
  let accepted = 0
  const counting: typeof store = {
    ...store,
    commit(commands) {
      accepted += commands.filter(({ type }) => type === 'accept_run' || type === 'create_session').length
      return store.commit(commands)
    },
  }
  const door = await openRoutes(
    (deps) => [
      ...createAgUiRoutes({ ...deps, version: '0' }),
      ...createAgentRoutes(deps),
      ...createThreadRoutes(deps),
      ...createOpenAiRoutes(deps),
      ...createSessionRoutes(deps),
    ],
    { store: counting, answers: [{ parts: [{ text: 'Hello.' }] }] },
  )
  return { ...door, accepted: () => accepted }
}

test.each(messages)('%s: a message that is refused leaves nothing behind', async (_door, path, refused) => {
  await using door = await openCounting()

  for (const body of refused) {
    const { status } = await door.post(path, body)
    expect([status >= 400 && status < 500, door.accepted()]).toEqual([true, 0])
  }
})
