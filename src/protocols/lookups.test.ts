import { expect, test } from 'vitest'
import { z } from 'zod'
import { createSqliteStore } from '../store/sqlite/sqlite-store.ts'
import type { Store } from '../store/store.ts'
import { createAgUiRoutes } from './ag-ui/routes.ts'
import { createAgentRoutes } from './agent/routes.ts'
import { createChatRoutes } from './chat/routes.ts'
import { createSessionRoutes } from './manage/sessions/routes.ts'
import { createOpenAiRoutes } from './openai/routes.ts'
import { openRoutes } from './shared/answer/testing/open-routes.ts'
import { createThreadRoutes } from './threads/routes.ts'

/** A store that notes every lookup of a session or a run until a run is accepted. `runs.open` is the engine's: it looks for queued runs. */
function createCountingStore() {
  const store = createSqliteStore({
    path: ':memory:',
    fatal: (error) => {
      throw error
    },
  })
  let lookups: string[] | null = null
  const noted = <T extends object>(of: string, reads: T): T =>
    new Proxy(reads, {
      get(target, name, receiver) {
        const read: unknown = Reflect.get(target, name, receiver)
        if (typeof read !== 'function' || name === 'open') return read
        return (...args: unknown[]) => {
          lookups?.push(`${of}.${String(name)}`)
          return Reflect.apply(read, target, args)
        }
      },
    })
  const counting: Store = {
    ...store,
    sessions: noted('sessions', store.sessions),
    runs: noted('runs', store.runs),
    commit(commands) {
      if (commands.some(({ type }) => type === 'accept_run')) accepted ??= lookups
      if (accepted !== null) lookups = null
      return store.commit(commands)
    },
  }
  let accepted: string[] | null = null
  return {
    store: counting,
    /** The lookups before the next run is accepted. */
    async during(work: () => Promise<unknown>): Promise<string[]> {
      accepted = null
      lookups = []
      await work()
      return accepted ?? []
    },
  }
}

const agUi = (threadId: string, n: number) => ({
  threadId,
  runId: `run-${n}`,
  messages: [{ id: `message-${n}`, role: 'user', content: 'Hi' }],
})

const uuid = '0192f3a1-7b2c-7def-8abc-0123456789ab'

const openDoor = (store: Store) =>
  openRoutes(
    (deps) => [
      ...createAgUiRoutes({ ...deps, version: '0' }),
      ...createAgentRoutes(deps),
      ...createChatRoutes(deps).filter(({ path }) => path !== '/chat'),
      ...createThreadRoutes(deps),
      ...createOpenAiRoutes(deps),
      ...createSessionRoutes(deps).filter(({ method, path }) => method === 'POST' || path !== '/sessions/:id'),
    ],
    { store, answers: [{ parts: [{ text: 'Hello.' }] }] },
  )

test.each<[string, string, (n: number) => unknown, string[]]>([
  ['AG-UI', '/', (n) => agUi('thread', n), ['sessions.byAlias', 'runs.byWireId']],
  ['AG-UI with a UUID', '/', (n) => agUi(uuid, n), ['sessions.get', 'sessions.byAlias', 'runs.byWireId']],
  ['the background routes', '/sessions/thread/messages', () => ({ message: 'Hi' }), ['sessions.byAlias']],
  [
    'chat completions',
    '/v1/chat/completions',
    () => ({ messages: [{ role: 'user', content: 'Hi' }], metadata: { session_id: 'thread' } }),
    ['sessions.byAlias'],
  ],
  ['responses', '/v1/responses', () => ({ input: 'Hi', conversation: 'thread' }), ['sessions.byAlias']],
])('a second message through %s looks its session up once', async (_door, path, body, expected) => {
  const counting = createCountingStore()
  await using door = await openDoor(counting.store)
  const send = (n: number) => door.post(path, body(n)).then((response) => response.text())
  await send(1)

  expect(await counting.during(() => send(2))).toEqual(expected)
})

test.each<[string, string, string, object]>([
  ['the agent routes', '/agent/tester/chat', 'session_id', {}],
  ['threads', '/chat', 'thread_id', { stream: false }],
])('a second message through %s looks its session up once', async (_door, path, key, more) => {
  const counting = createCountingStore()
  await using door = await openDoor(counting.store)
  const send = async (names: object): Promise<unknown> =>
    (await door.post(path, { message: 'Hi', ...more, ...names })).json()
  const first = z.looseObject({ [key]: z.string() }).parse(await send({}))

  expect(await counting.during(() => send({ [key]: first[key] }))).toEqual(['sessions.get'])
})

test('the first message on a thread with a UUID looks for its session once', async () => {
  const counting = createCountingStore()
  await using door = await openDoor(counting.store)

  const lookups = await counting.during(() => door.post('/', agUi(uuid, 1)).then((response) => response.text()))

  expect(lookups).toEqual(['sessions.get', 'sessions.byAlias'])
})
