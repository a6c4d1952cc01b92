// Every route that is not public needs a credential.

import { describe, expect, test } from 'vitest'
import type { Role, Route } from '../route.ts'
import { operatorToken, route, startServer, userToken } from '../testing/server-fixture.ts'

const roles: Role[] = ['public', 'user', 'operator']
const table: Route[] = roles.flatMap((role) =>
  ['GET /:role', 'POST /:role', 'DELETE /:role', 'GET /:role/x/:id/events', 'POST /:role/x/:id'].map((line) =>
    route(line.replace(':role', role), (_request, reply) => reply.json(200, {}), { role }),
  ),
)

/** The status that each route of the table answers. */
async function answers(tokenRequired: boolean, authorization?: string): Promise<Record<Role, number[]>> {
  await using server = await startServer({ routes: table, auth: { tokenRequired, failuresPerMinute: 1_000 } })
  const headers = authorization === undefined ? {} : { authorization }
  const result: Record<Role, number[]> = { public: [], user: [], operator: [] }
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
    expect(await answers(true)).toEqual({ public: all(200), user: all(401), operator: all(401) })
    expect(await answers(true, 'Bearer wrong-token')).toEqual({ public: all(200), user: all(401), operator: all(401) })
  })

  test("on loopback, every operator's route still needs a token", async () => {
    expect(await answers(false)).toEqual({ public: all(200), user: all(200), operator: all(401) })
    expect(await answers(false, 'Bearer wrong-token')).toEqual({ public: all(200), user: all(401), operator: all(401) })
  })

  test("a user's token does not decide, the operator's does", async () => {
    expect(await answers(true, `Bearer ${userToken.token}`)).toEqual({
      public: all(200),
      user: all(200),
      operator: all(403),
    })
    expect(await answers(true, `Bearer ${operatorToken.token}`)).toEqual({
      public: all(200),
      user: all(200),
      operator: all(200),
    })
  })
})
