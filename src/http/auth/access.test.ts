// Every route that is not public needs a credential.

import { describe, expect, test } from 'vitest'
import type { Role, Route } from '../route.ts'
import { agentToken, operatorToken, route, startServer, userToken } from '../testing/server-fixture.ts'

const roles: Role[] = ['public', 'user', 'operator', 'agent']
const table: Route[] = roles.flatMap((role) =>
  ['GET /:role', 'POST /:role', 'DELETE /:role', 'GET /:role/x/:id/events', 'POST /:role/x/:id'].map((line) =>
    route(line.replace(':role', role), (_request, reply) => reply.json(200, {}), { role }),
  ),
)

/** The status that each route of the table answers. */
async function answers(tokenRequired: boolean, authorization?: string): Promise<Record<Role, number[]>> {
  await using server = await startServer({ routes: table, auth: { tokenRequired, failuresPerMinute: 1_000 } })
  const headers = authorization === undefined ? {} : { authorization }
  const result: Record<Role, number[]> = { public: [], user: [], operator: [], agent: [] }
  for (const { method, path, role } of table) {
    for (const spelling of [
      path.replace(':id', '7'),
      `${path.replace(':id', '7')}/`,
      `${path.replace(':id', '%37')}?token=x`,
    ]) {
      const answer = await fetch(`${server.url}${spelling}`, { method, headers })
      if (answer.status === 401) expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="quarterdeck"')
      result[role].push(answer.status)
    }
  }
  return result
}

const all = (status: number) => Array.from({ length: 15 }, () => status)

describe('the route table', () => {
  test('if a token is required, every route except public ones refuses a request without one', async () => {
    const refused = { public: all(200), user: all(401), operator: all(401), agent: all(401) }
    expect(await answers(true)).toEqual(refused)
    expect(await answers(true, 'Bearer wrong-token')).toEqual(refused)
  })

  test('on loopback, every route of an operator or an agent still needs a token', async () => {
    const refused = { public: all(200), operator: all(401), agent: all(401) }
    expect(await answers(false)).toEqual({ ...refused, user: all(200) })
    expect(await answers(false, 'Bearer wrong-token')).toEqual({ ...refused, user: all(401) })
  })

  test("a user's token does not decide, the operator's does", async () => {
    expect(await answers(true, `Bearer ${userToken.token}`)).toEqual({
      public: all(200),
      user: all(200),
      operator: all(403),
      agent: all(403),
    })
    expect(await answers(true, `Bearer ${operatorToken.token}`)).toEqual({
      public: all(200),
      user: all(200),
      operator: all(200),
      agent: all(403),
    })
  })

  test("an agent's token works on the routes of agents alone", async () => {
    expect(await answers(true, `Bearer ${agentToken.token}`)).toEqual({
      public: all(200),
      user: all(403),
      operator: all(403),
      agent: all(200),
    })
  })
})

describe('a token in the URL', () => {
  const asked = (path: string, principal: unknown) => ({ path, principal })
  const routes = (['agent', 'user', 'public'] as const).map((role) =>
    route(`GET /${role}`, ({ path, principal }, reply) => reply.json(200, asked(path, principal)), { role }),
  )
  const agent = {
    owner: 'ada',
    role: 'agent',
    hasToken: true,
    tokenId: 'token-of-an-agent',
    workspace: '/home/ada/shop',
  }

  test('is accepted from an agent on this machine, and nobody else', async () => {
    await using server = await startServer({ routes, auth: { tokenRequired: true } })
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${server.url}${path}`, { headers })
      return { status: answer.status, body: await answer.json() }
    }
    const query = `?token=${agentToken.token}`

    expect(await ask(`/agent${query}`)).toEqual({ status: 200, body: asked('/agent', agent) })
    expect(await ask(`/agent?token=${operatorToken.token}`)).toMatchObject({ status: 403 })
    expect(await ask('/agent?token=wrong-wrong-wrong')).toMatchObject({ status: 401 })
    expect(await ask('/agent?token=')).toMatchObject({ status: 401 })
    expect(await ask(`/user?token=${userToken.token}`)).toMatchObject({ status: 401 })
    expect(await ask(`/public${query}`)).toMatchObject({ body: { principal: { role: 'public' } } })
    // The header counts where both are sent.
    expect(await ask(`/agent${query}`, { authorization: 'Bearer wrong-wrong-wrong' })).toMatchObject({ status: 401 })
    expect(await ask(`/agent${query}`, { 'x-forwarded-for': '192.0.2.7' })).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('only from this machine') },
    })
    expect(JSON.stringify(server.lines)).not.toContain(agentToken.token)
  })
})
