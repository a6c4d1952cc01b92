import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import {
  agentToken,
  createManualClock,
  operatorToken,
  startServer,
  until,
  userToken,
} from '../../http/testing/server-fixture.ts'
import type { HookAgent, HookCall, HookEvent, HookReply, HookService } from '../../supervision/hooks/hook-service.ts'
import { createHookRoutes } from './routes.ts'

const question = {
  hook_event_name: 'PreToolUse',
  session_id: 's',
  cwd: '/home/ada/shop',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: 't',
}
const denied = (reason: unknown) => ({
  hook: 'claude',
  behavior: 'deny',
  output: {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  },
})

/** `permission` answers hooks. Ends with `await using`. */
async function open(permission: HookService['permission'], reply: HookReply = {}) {
  const clock = createManualClock()
  const told: [HookAgent, HookEvent][] = []
  const calls: [HookAgent, HookCall, number][] = []
  const service: HookService = {
    permission: (agent, call, options) => {
      calls.push([agent, call, options.limitMs])
      return permission(agent, call, options)
    },
    async report(agent, event) {
      told.push([agent, event])
      return reply
    },
  }
  const server = await startServer({ routes: createHookRoutes({ service, clock }) })
  const ask = (
    body: unknown,
    path = '/hooks/claude',
    { token }: { token: string } = agentToken,
    signal?: AbortSignal,
  ) =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    })
  return { ...server, clock, told, calls, ask, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

const allow: HookService['permission'] = async () => ({ behavior: 'allow' })

describe('a hook that asks', () => {
  test('gets the verdict in the host’s words', async () => {
    await using door = await open(async () => ({ behavior: 'allow', updatedInput: { command: 'ls -l' } }))

    const response = await door.ask(question, '/hooks/claude?limit_ms=7000')

    expect([response.status, await response.json()]).toEqual([
      200,
      {
        hook: 'claude',
        behavior: 'allow',
        output: {
          hookSpecificOutput: {
            hookEventName: 'PreToolUse',
            permissionDecision: 'allow',
            updatedInput: { command: 'ls -l' },
            additionalContext: expect.stringContaining('{"command":"ls -l"}'),
          },
        },
      },
    ])
    expect(door.calls).toEqual([
      [
        { owner: 'ada', tokenId: 'token-of-an-agent', workspace: '/home/ada/shop' },
        {
          host: 'claude',
          event: 'permission',
          hostSessionId: 's',
          cwd: '/home/ada/shop',
          toolName: 'Bash',
          input: { command: 'ls' },
          toolUseId: 't',
          isOwn: false,
          command: 'ls',
        },
        6000,
      ],
    ])
  })

  test('hears every few seconds that the server is alive', async () => {
    let decide = (): void => {}
    await using door = await open(
      () =>
        new Promise((resolve) => {
          decide = () => resolve({ behavior: 'deny', message: 'No.' })
        }),
    )

    const response = await door.ask(question)
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toBe('\n')
    door.clock.advance(5_000)
    expect((await reader?.read())?.value).toBe('\n')
    decide()

    expect(JSON.parse((await reader?.read())?.value ?? '')).toEqual(denied('No.'))
  })

  test('is refused when nobody has decided before its limit', async () => {
    const signals: AbortSignal[] = []
    await using door = await open((_agent, _call, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    })

    const answer = door.ask(question)
    await until(() => door.calls.length === 1)
    expect(door.calls[0]?.[2]).toBe(49_000)
    door.clock.advance(50_000)

    // A service that is late would otherwise use up a yes that nobody hears.
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(await (await answer).json()).toEqual(denied(expect.stringContaining('make exactly the same call again')))
  })

  test('that goes away decides nothing, and the service learns of it', async () => {
    let gone = false
    const service: HookService['permission'] = (_agent, _call, { signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          gone = true
        })
      })
    await using door = await open(service)
    const leave = new AbortController()

    const answer = await door.ask(question, undefined, undefined, leave.signal)
    leave.abort()
    await answer.text().catch(() => {})

    await until(() => gone)
  })

  test.each([
    [new ServerError('conflict', 'This session is paused.'), 'This session is paused.'],
    [new TypeError('secret detail'), expect.stringMatching(/because of an error. Its log has more under [\w-]+\.$/)],
  ])('is refused when the service fails: %s', async (error, reason) => {
    await using door = await open(async () => {
      throw error
    })

    const response = await door.ask(question)

    expect([response.status, await response.json()]).toEqual([200, denied(reason)])
  })
})

test('a hook that tells something gets text for the agent', async () => {
  await using door = await open(allow, { text: 'Go on.' })

  const response = await door.ask({ hook_event_name: 'Stop', session_id: 's', cwd: '/w' }, '/hooks/codex')

  expect(await response.json()).toEqual({
    hook: 'codex',
    behavior: 'noted',
    output: { decision: 'block', reason: 'Go on.' },
  })
  expect(door.told).toEqual([
    [
      { owner: 'ada', tokenId: 'token-of-an-agent', workspace: '/home/ada/shop' },
      { host: 'codex', event: 'notification', hostSessionId: 's', cwd: '/w', reason: 'stop' },
    ],
  ])
})

test.each([
  ['another host', '/hooks/emacs', question, agentToken, 404, 'route_not_found'],
  ['a user’s token', '/hooks/claude', question, userToken, 403, 'forbidden'],
  ['the operator’s token', '/hooks/claude', question, operatorToken, 403, 'forbidden'],
  ['a wrong token', '/hooks/claude', question, { token: 'wrong' }, 401, 'unauthorized'],
  ['no JSON', '/hooks/claude', '{', agentToken, 400, 'malformed_json'],
  ['no hook', '/hooks/claude', {}, agentToken, 400, 'invalid_request'],
  ['a bad limit', '/hooks/claude?limit_ms=-1', question, agentToken, 400, 'invalid_request'],
])('%s is an error that no host reads as a yes', async (_name, path, body, token, status, code) => {
  await using door = await open(allow)

  const response = await door.ask(body, path, token)
  const problem: Record<string, unknown> = JSON.parse(await response.text())

  expect([response.status, problem.code]).toEqual([status, code])
  expect(Object.keys(problem).filter((key) => /decision|behavior|hook/i.test(key))).toEqual([])
  expect(door.calls).toEqual([])
})
