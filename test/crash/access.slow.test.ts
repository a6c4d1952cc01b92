// Who may do what on a running server. Without a credential nothing is allowed, and with one only what belongs to its user.

import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { parseUuid } from '../../src/domain/ids.ts'
import { LOCAL_USER } from '../../src/domain/session/session.ts'
import { createRecordFile } from '../../src/http/auth/config-folder/record-file.ts'
import { digestOf, type TokenRecord } from '../../src/http/auth/tokens/token.ts'
import { tokenFormat } from '../../src/http/auth/tokens/token-rows.ts'
import { makeFolder } from '../../src/store/make-folder.ts'
import { print } from './support/figures.ts'
import { openRaw, statusOf } from './support/raw-socket.ts'
import { type RouteRow, routeTable } from './support/route-table.ts'
import { hydration, runInput } from './support/run-input.ts'
import { type RecordOptions, record } from './support/sse-recorder.ts'
import { DidNotStart, openYard, type TestServer } from './support/start-server.ts'
import { until, within } from './support/until.ts'

const tokens = {
  user: 'qd_user-0123456789-0123456789-0123456789',
  operator: 'qd_operator-0123456789-0123456789-01234',
  ann: 'qd_ann-0123456789-0123456789-0123456789',
  bob: 'qd_bob-0123456789-0123456789-0123456789',
}
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

const answers = [
  { when: 'endless', parts: [{ text: 'tok ', repeat: 100_000, delay_ms: 20 }] },
  { parts: [{ text: 'Hello.' }] },
]

const cleanups: (() => Promise<void>)[] = []
const servers = new Map<string, Promise<TestServer>>()

afterAll(async () => {
  for (const clean of cleanups) await clean()
})

/** Tests with the same flags share a server. */
function serverWith(flags: readonly string[]): Promise<TestServer> {
  const key = flags.join(' ')
  const server = servers.get(key) ?? startGuarded(flags)
  servers.set(key, server)
  return server
}

async function startGuarded(flags: readonly string[]): Promise<TestServer> {
  const yard = await openYard((clean) => void cleanups.push(clean), { answers })
  const file = createRecordFile(tokenFormat, {
    configDir: join(yard.directory, 'config'),
    dataDir: yard.dataDir,
    makeFolder,
  })
  const stored = (name: keyof typeof tokens, user: string, role: 'user' | 'operator') => {
    const record: TokenRecord = {
      ...{ id: name, name, user, role, sha256: digestOf(tokens[name]) },
      created_at: new Date(0).toISOString(),
    }
    return { key: name, value: JSON.stringify(record), expiresAt: null }
  }
  const records = [
    stored('user', LOCAL_USER, 'user'),
    stored('operator', LOCAL_USER, 'operator'),
    stored('ann', 'ann', 'user'),
    stored('bob', 'bob', 'user'),
  ]
  file.write(records, 'user')
  return await yard.start({ flags: ['--log-level', 'error', ...flags] })
}

/** A request to one route that is valid enough to reach its handler. */
function requestTo({ method, path }: RouteRow): Pick<RecordOptions, 'method' | 'body'> & { path: string } {
  const filled = path.replace(':name', 'crash').replace(/:\w+/g, 'x')
  return {
    path: filled,
    method,
    ...(method === 'POST' || method === 'PATCH' ? { body: runInput('x', 'x', 'Hello') } : {}),
  }
}

/** The status of the answer, and the error code of a refusal. */
async function answerOf(
  server: TestServer,
  request: Partial<RecordOptions> & { path: string },
  headers: Record<string, string> = {},
): Promise<string> {
  const { path, ...rest } = request
  const recorder = record({ ...rest, url: server.url + path, headers })
  await until('an answer', () => recorder.recording.status !== null)
  if (recorder.recording.status === 200) {
    recorder.close()
    return '200'
  }
  const { status, body } = await recorder.done
  return `${status} ${codeIn(body)}`
}

/** The code of a problem, or of the error object of a door that has its own shape. */
function codeIn(body: string): unknown {
  try {
    const { code, error } = JSON.parse(body)
    return code ?? error?.code
  } catch {
    return undefined
  }
}

/** The transport of 2024: they only say where to go. */
const MOVED = ['GET /sse', 'POST /sse', 'GET /messages', 'POST /messages']

/** The door of MCP answers in JSON-RPC, which has numbers for codes. */
function inItsShape({ path }: RouteRow, answer: string): string {
  if (['/mcp', '/sse', '/messages'].includes(path)) return answer.replace(/ \w+$/, ' -32000')
  // Clients of OpenAI would repeat a 421.
  return path.startsWith('/v1/') ? answer.replace(/^421/, '400') : answer
}

const label = ({ method, path }: RouteRow): string => `${method} ${path}`

describe('without a credential', () => {
  test.each([
    ['where a token is asked for on this machine', ['--auth', 'token'], {}],
    ['beyond this machine', ['--host', '0.0.0.0'], { host: '0.0.0.0' }],
  ])('every route refuses, %s', async (name, flags, settings) => {
    const server = await serverWith(flags)
    const table = await routeTable(settings)
    // These are public on purpose. Think twice before adding one.
    // The frame of apps has nothing in it before its page gives it something.
    const pages = ['GET /', 'GET /console/app-frame', 'GET /console/*path', 'GET /docs/*path', 'GET /talk/*path']
    const signIn = ['GET /sign-in', 'POST /sign-in', 'POST /sign-in/challenges']
    // Authorization servers read the one, and lead browsers back to the other, which wants what it gave out.
    const mcp = ['GET /sign-ins/client.json', 'GET /sign-ins/callback']
    const probes = ['GET /health', 'GET /health/agent', 'GET /live', 'GET /ping', 'GET /ready']
    const open = new Set([...pages, ...signIn, ...mcp, ...probes, ...MOVED])
    expect(new Set(table.filter(({ role }) => role === 'public').map(label))).toEqual(open)
    const closed = table.filter((row) => !open.has(label(row)))
    const ask = async (headers: Record<string, string>) =>
      Object.fromEntries(
        await Promise.all(closed.map(async (row) => [label(row), await answerOf(server, requestTo(row), headers)])),
      )
    const expected = Object.fromEntries(closed.map((row) => [label(row), inItsShape(row, '401 unauthorized')]))
    expect(await ask({})).toEqual(expected)
    // A credential in the wrong place does not count.
    expect(await ask({ Cookie: `token=${tokens.user}`, 'X-Api-Key': tokens.user })).toEqual(expected)
    expect(await answerOf(server, { path: `/runs/x?token=${tokens.user}&access_token=${tokens.user}` })).toBe(
      '401 unauthorized',
    )
    // The one exception is a signed address of a file (`src/protocols/manage/files/routes.test.ts`): another key opens nothing.
    expect(await answerOf(server, { path: `/files/x?key=${tokens.user}` })).toBe('403 forbidden')
    expect(await answerOf(server, { path: `/runs/x?key=${tokens.user}` })).toBe('401 unauthorized')
    // Strangers learn only that the server is alive.
    const health = await record({ url: `${server.url}/health` }).done
    expect([health.status, JSON.parse(health.body)]).toEqual([200, { status: 'healthy' }])

    const operators = table.filter(({ role }) => role === 'operator')
    const asUser = await Promise.all(operators.map((row) => answerOf(server, requestTo(row), bearer(tokens.ann))))
    const asOperator = await Promise.all(
      operators.map((row) => answerOf(server, requestTo(row), bearer(tokens.operator))),
    )
    expect(asUser).toEqual(operators.map(() => '403 forbidden'))
    // The operator gets past the guard. Then a made-up id is not found or not an id, and the body, the input of a run, is not what a
    // route that changes something wants. Giving back what nobody took is no mistake, and neither is erasing a user whom nobody knows.
    const isPast = operators.map((row) => {
      if (label(row) === 'DELETE /inbox/:id/take') return /^204 /
      if (label(row) === 'DELETE /users/:user') return /^200$/
      return row.method === 'GET' ? /^200|^404 |^400 malformed_id/ : /^400 (invalid_request|malformed_id)|^404 /
    })
    expect(asOperator.filter((answer, i) => !isPast[i]?.test(answer))).toEqual([])
    expect(await answerOf(server, { path: '/capabilities' }, bearer(tokens.bob))).toBe('200')

    print(
      `P26: ${closed.length}/${closed.length} routes refuse without a credential ${name}; ${operators.length} of them also a user's`,
    )
  })

  test('on this machine everybody may talk, but not decide', async () => {
    const server = await serverWith([])
    const table = await routeTable()
    const operators = table.filter(({ role }) => role === 'operator')

    expect(await answerOf(server, { path: '/', method: 'POST', body: runInput('a', 'a', 'Hello') })).toBe('200')
    const refused = await Promise.all(operators.map((row) => answerOf(server, requestTo(row))))
    expect(refused).toEqual(operators.map(() => '401 unauthorized'))
    // A wrong credential is not treated like no credential.
    expect(await answerOf(server, { path: '/capabilities' }, bearer('qd_wrong-0123456789'))).toBe('401 unauthorized')
    print(`P26: on loopback without a token ${operators.length} of ${operators.length} operator routes refuse`)
  })
})

/** Only its owner knows it. */
const MARK = 'a secret called 4711'

function attemptsOn({ method, path }: RouteRow, id: string): (Partial<RecordOptions> & { path: string })[] {
  const filled = path.replace(':name', 'crash').replace(/:\w+/g, id)
  if (method !== 'POST') return [{ method, path: filled }]
  const said = { message: 'Hi' }
  const chat = { model: 'crash', messages: [{ role: 'user', content: 'Hi' }], metadata: { session_id: id } }
  const response = { model: 'crash', input: 'Hi', conversation: id }
  const bodies = [
    runInput(id, id, 'Hi'),
    hydration(id),
    said,
    { ...said, session_id: id },
    { ...said, thread_id: id },
    chat,
    response,
  ]
  return bodies.map((body) => ({ method, path: filled, body }))
}

describe('what belongs to somebody else', () => {
  test('looks as if it did not exist, at every route and in every spelling', async () => {
    const server = await serverWith(['--auth', 'token'])
    const { url } = server
    const ann = bearer(tokens.ann)
    const bob = bearer(tokens.bob)
    const hers = runInput('secret', 'secret', `Hello, this is ${MARK}.`)
    const { frames } = await record({ url, method: 'POST', body: hers, headers: ann }).done
    const endless = record({ url, method: 'POST', body: runInput('secret', 'busy', 'endless'), headers: ann })
    await until('her run streams', () => endless.recording.frames.length > 3)
    const [ulid = ''] = (frames[0]?.id ?? '').split('.')
    const uuid = parseUuid(ulid) ?? ''
    const lastEventId = frames[2]?.id ?? ''
    const isGone = '404 session_not_found'
    const noRun = '404 run_not_found'

    const tries: (readonly [
      expected: string,
      request: Partial<RecordOptions> & { path: string },
      more?: Record<string, string>,
    ])[] = [
      ...[ulid, uuid].flatMap((id) => [
        [isGone, { path: `/sessions/${id}/events` }] as const,
        [isGone, { path: `/sessions/${id}/log` }] as const,
        [isGone, { path: `/sessions/${id}/export` }] as const,
        [isGone, { path: `/sessions/${id}/messages`, method: 'POST', body: { message: 'Hi' } }] as const,
        [isGone, { path: '/', method: 'POST', body: runInput(id, 'bobs', 'Hi') }] as const,
        [isGone, { path: '/agents/crash', method: 'POST', body: runInput(id, 'bobs', 'Hi') }] as const,
        [isGone, { path: '/copilotkit/agent/crash/run', method: 'POST', body: runInput(id, 'bobs', 'Hi') }] as const,
      ]),
      ['400 malformed_id', { path: '/sessions/secret/events' }],
      ...['secret', 'busy'].flatMap((id) => [
        [noRun, { path: `/runs/${id}` }] as const,
        [noRun, { path: `/runs/${id}/events` }] as const,
        [noRun, { path: `/runs/${id}/cancel`, method: 'POST', body: {} }] as const,
      ]),
      [
        isGone,
        { path: '/', method: 'POST', body: runInput('secret', 'secret', 'Hi') },
        { 'Last-Event-ID': lastEventId },
      ],
      [isGone, { path: '/', method: 'POST', body: runInput(ulid, 'secret', 'Hi') }, { 'Last-Event-ID': lastEventId }],
    ]
    const got = await Promise.all(tries.map(([, request, more]) => answerOf(server, request, { ...bob, ...more })))
    expect(got).toEqual(tries.map(([expected]) => expected))

    // For him the same name is another session. He sees nothing of hers, and deleting or stopping it does nothing to hers.
    const seen = await record({ url, method: 'POST', body: hydration('secret'), headers: bob }).done
    expect(
      seen.frames.map(({ data }) => JSON.parse(data)).find(({ type }) => type === 'MESSAGES_SNAPSHOT'),
    ).toMatchObject({ messages: [] })
    const remove = (id: string) => fetch(`${url}/sessions/${id}`, { method: 'DELETE', headers: bob })
    expect([(await remove(ulid)).status, (await remove(uuid)).status]).toEqual([204, 204])
    const stop = await record({
      url: `${url}/copilotkit/agent/crash/stop/secret`,
      method: 'POST',
      body: {},
      headers: bob,
    }).done
    expect(JSON.parse(stop.body)).toMatchObject({ stopped: false })

    // Every route, with each of her ids in its path and in every body that can name one.
    const { body: run } = await record({ url: `${url}/runs/secret`, headers: ann }).done
    const ids = [ulid, uuid, 'secret', 'busy', String(JSON.parse(run).run_id)]
    const attempts = (await routeTable({ 'auth.mode': 'token' })).flatMap((row) =>
      ids.flatMap((id) => attemptsOn(row, id)).filter(({ path }) => path !== '/metrics'),
    )
    const leaks: string[] = []
    for (let i = 0; i < attempts.length; i += 40) {
      await Promise.all(
        attempts.slice(i, i + 40).map(async ({ path, ...request }) => {
          const recorder = record({ ...request, url: url + path, headers: bob })
          // Streams of sessions stay open, so only their beginning is read.
          await within(300, recorder.done, () => '').catch(() => recorder.close())
          const { body, frames: shown } = recorder.recording
          if (`${body}${JSON.stringify(shown)}`.includes(MARK)) leaks.push(`${request.method} ${path}`)
        }),
      )
    }
    expect(leaks).toEqual([])

    const again = await record({ url: `${url}/runs/secret/events`, headers: ann }).done
    expect(again.frames).toEqual(frames)
    expect(JSON.parse((await record({ url: `${url}/runs/busy`, headers: ann }).done).body)).toMatchObject({
      status: 'running',
    })
    endless.close()
    print(
      `P26: ${tries.length + attempts.length + 4} attempts on another user's sessions and runs found nothing and changed nothing`,
    )
  })
})

describe('a guesser', () => {
  test('is slowed down, but users with a valid token are not', async () => {
    const server = await serverWith(['--auth', 'token'])
    const guesses: string[] = []
    for (let i = 0; i < 12; i += 1) {
      guesses.push(await answerOf(server, { path: '/capabilities' }, bearer(`qd_guess-number-${i}`)))
    }

    expect(guesses).toEqual([...Array(10).fill('401 unauthorized'), '429 rate_limited', '429 rate_limited'])
    expect(await answerOf(server, { path: '/capabilities' }, bearer(tokens.ann))).toBe('200')
  })
})

describe('other people’s pages', () => {
  test('are refused at every route because of their Host or Origin', async () => {
    const server = await serverWith([])
    const table = await routeTable()
    const ask = (headers: Record<string, string>) =>
      Promise.all(table.map((row) => answerOf(server, requestTo(row), headers)))
    const all = (answer: string) => table.map((row) => inItsShape(row, answer))

    expect(await ask({ Host: `evil.example:${server.port}` })).toEqual(all('421 host_not_allowed'))
    expect(await ask({ Host: 'localhost:1' })).toEqual(all('421 host_not_allowed'))
    expect(await ask({ Origin: 'https://evil.example' })).toEqual(all('403 origin_not_allowed'))
    expect(await ask({ Origin: 'null' })).toEqual(all('403 origin_not_allowed'))
    expect(await ask({ Origin: 'http://localhost.evil.example' })).toEqual(all('403 origin_not_allowed'))
    const twice = await openRaw(
      server.port,
      `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
    )
    expect(statusOf(await twice.closed())).toBe(400)

    const own = await record({ url: `${server.url}/health`, headers: { Origin: 'http://localhost:3000' } }).done
    expect([own.status, own.headers['access-control-allow-origin']]).toEqual([200, 'http://localhost:3000'])
    print(`P26: ${table.length} routes × 5 foreign hosts and origins refused`)
  })
})

describe('a combination that is not safe', () => {
  test.each([
    ['no token beyond this machine', ['--host', '0.0.0.0', '--auth', 'none'], '--insecure'],
    ['every origin without a token', ['--cors-origins', '*'], '--auth token'],
  ])('does not start: %s', async (_name, flags, mend) => {
    const yard = await openYard(onTestFinished)
    const failure: unknown = await yard.start({ flags }).catch((error: unknown) => error)

    expect(failure).toBeInstanceOf(DidNotStart)
    if (!(failure instanceof DidNotStart)) return
    expect(failure.exit.code).toBe(2)
    expect(failure.exit.log).toContain(mend)
  })
})
