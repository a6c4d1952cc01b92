import { expect, test } from 'vitest'
import { routeTable } from '../../../../test/crash/support/route-table.ts'
import { type Scope, scopes } from '../../../domain/supervision/token-role.ts'
import { refuseWithoutScope, scopeOf } from './scopes.ts'

test('every route needs the scope that this table says', async () => {
  const table = (await routeTable()).filter(({ role }) => role === 'user' || role === 'operator')
  const byScope = Object.groupBy(table, (route) => scopeOf(route) ?? 'no scope is enough')
  const lines = (scope: Scope | 'no scope is enough') =>
    (byScope[scope] ?? []).map(({ method, path }) => `${method} ${path}`).sort()

  expect(new Set(lines('read').map((line) => line.split(' ')[0]))).toEqual(new Set(['GET', 'POST']))
  expect(lines('read').filter((line) => !line.startsWith('GET'))).toEqual([
    'POST /knowledge/search',
    'POST /policy/draft',
    'POST /policy/try',
    'POST /validate/agent',
  ])
  expect(lines('talk')).toEqual([
    'DELETE /memories',
    'DELETE /memories/:id',
    'DELETE /sessions/:id',
    'DELETE /threads/:id',
    'DELETE /v1/responses/:id',
    'PATCH /memories/:id',
    'PATCH /sessions/:id',
    'POST /',
    'POST /agent/:name/chat',
    'POST /agent/:name/chat/stream',
    'POST /agents/:name',
    'POST /agents/:name/tests/run',
    'POST /ai/chat',
    'POST /awp',
    'POST /chat',
    'POST /copilotkit',
    'POST /copilotkit/agent/:name/connect',
    'POST /copilotkit/agent/:name/run',
    'POST /copilotkit/agent/:name/stop/:threadId',
    'POST /files',
    'POST /invocations',
    'POST /messages/:id/feedback',
    'POST /runs/:id/cancel',
    'POST /sessions/:id/apps',
    'POST /sessions/:id/messages',
    'POST /tool_result',
    'POST /v1/chat/completions',
    'POST /v1/embeddings',
    'POST /v1/responses',
    'POST /v1/responses/:id/cancel',
  ])
  expect(lines('decide')).toEqual([
    'DELETE /grants/:id',
    'DELETE /inbox/:id/take',
    'POST /alerts/:id/dismiss',
    'POST /alerts/:id/nudge',
    'POST /alerts/:id/stop',
    'POST /approvals',
    'POST /approvals/:id',
    'POST /approvals/:id/check',
    'POST /approvals/:id/reveal',
    'POST /checkpoints/:id/restore',
    'POST /inbox/:id/take',
    'POST /policy/accept',
    'POST /prompts/:id',
    'POST /sessions',
    'POST /sessions/:id/checkpoint',
    'POST /sessions/:id/mode',
    'POST /sessions/:id/nudge',
    'POST /sessions/:id/pause',
    'POST /sessions/:id/resume',
    'POST /sessions/:id/run',
    'POST /sessions/:id/stalls',
    'POST /sessions/:id/steer',
    'POST /sessions/:id/task',
    'POST /sessions/:id/terminate',
    'POST /waits/:id',
    'POST /workspaces/:id/tasks',
  ])
  expect(lines('manage')).toEqual([
    'DELETE /knowledge/:id',
    'DELETE /push/subscriptions/:id',
    'DELETE /schedules/:id',
    'DELETE /sign-ins/:id',
    'PATCH /schedules/:id',
    'POST /channels/:name/replay',
    'POST /knowledge/:id/update',
    'POST /push/subscriptions',
    'POST /schedules',
    'POST /schedules/:id/run',
    'POST /sessions/:id/handover',
    'POST /sessions/purge',
    'POST /sign-ins/:id',
    'POST /sign-out',
  ])
  expect(lines('no scope is enough')).toEqual([
    'DELETE /devices/:id',
    'DELETE /passkeys/:id',
    'DELETE /tokens/:id',
    'DELETE /users/:user',
    'POST /devices/codes',
    'POST /passkeys',
    'POST /passkeys/challenges',
    'POST /passkeys/options',
    'POST /tokens',
  ])
})

test('every route that decides reads a body in which no key may be there twice', async () => {
  const deciding = (await routeTable()).filter((route) => route.method === 'POST' && scopeOf(route) === 'decide')
  const others = deciding.filter(({ body }) => body !== 'control' && body !== 'edit' && body !== 'none')
  expect(others.map(({ path }) => path)).toEqual([])
})

test('a token does what its scopes say, and one without scopes everything', () => {
  const refusal = (own: readonly Scope[] | undefined, line: string, role: 'public' | 'user' | 'operator' | 'agent') => {
    const [method, path = ''] = line.split(' ')
    if (method !== 'GET' && method !== 'POST' && method !== 'DELETE') throw new Error(line)
    try {
      refuseWithoutScope(own === undefined ? {} : { scopes: own }, { method, path, role })
      return null
    } catch (error) {
      return error
    }
  }
  expect(refusal(['read'], 'GET /audit', 'operator')).toBe(null)
  expect(refusal(['talk'], 'GET /audit', 'operator')).toMatchObject({ code: 'forbidden', details: { scope: 'read' } })
  expect(refusal(['read'], 'POST /', 'user')).toMatchObject({ details: { scope: 'talk' } })
  expect(refusal(['talk', 'read', 'manage'], 'POST /approvals/:id', 'user')).toMatchObject({
    details: { scope: 'decide' },
  })
  expect(refusal(['talk', 'read', 'decide'], 'POST /something/new', 'operator')).toMatchObject({
    details: { scope: 'manage' },
  })
  expect(refusal([...scopes], 'POST /devices/codes', 'operator')).toMatchObject({ code: 'forbidden' })
  expect(refusal([...scopes], 'POST /sign-in', 'public')).toMatchObject({ code: 'forbidden' })
  expect(refusal(undefined, 'POST /devices/codes', 'operator')).toBe(null)
  expect(refusal(['talk'], 'GET /health', 'public')).toBe(null)
})

test('a token that ends, or is limited to an agent, signs nobody in: what it makes there would not be limited', () => {
  const refusal = (own: Parameters<typeof refuseWithoutScope>[0], path: string, role: 'public' | 'operator') => {
    try {
      refuseWithoutScope(own, { method: 'POST', path, role })
      return null
    } catch (error) {
      return error
    }
  }
  for (const own of [{ agent: 'helper' }, { expiresAt: 1 }]) {
    expect(refusal(own, '/sign-in', 'public')).toMatchObject({ code: 'forbidden' })
    expect(refusal(own, '/devices/codes', 'operator')).toMatchObject({ code: 'forbidden' })
    // It would sign in when the token has ended.
    expect(refusal(own, '/passkeys', 'operator')).toMatchObject({ code: 'forbidden' })
    // A proof counts for one decision.
    expect(refusal(own, '/passkeys/challenges', 'operator')).toBe(null)
    expect(refusal(own, '/approvals/:id', 'operator')).toBe(null)
  }
  // It would be a credential without the limit. What ends is bounded by the route.
  for (const path of ['/tokens', '/tokens/:id', '/passkeys/options', '/devices/:id']) {
    expect([path, refusal({ agent: 'helper' }, path, 'operator')]).toMatchObject([path, { code: 'forbidden' }])
    expect([path, refusal({ expiresAt: 1 }, path, 'operator')]).toEqual([path, null])
  }
})
