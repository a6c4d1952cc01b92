import { describe, expect, test } from 'vitest'
import { type Door, doorNames } from '../../../doors.ts'
import { echo, startServer } from '../../testing/server-fixture.ts'
import { createHomeRoutes } from './routes.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

const start = (doors: readonly Door[] = doorNames, hasConsole = true) =>
  startServer({
    routes: [...createHomeRoutes({ hasConsole, doors }), echo('POST /', { door: 'ag-ui' })],
    doors,
    auth: { tokenRequired: true },
  })

const ask = (url: string, init: RequestInit = {}) => fetch(url, { redirect: 'manual', ...init })

describe('GET /', () => {
  test.each([
    ['the console', doorNames, true, '/console/'],
    ['the docs if the console is off', doorNames, false, '/docs'],
    ['the docs if REST is the only door', ['rest' as const], true, '/docs'],
    ['the console also without AG-UI', ['rest' as const, 'openai' as const], true, '/console/'],
  ])('leads a browser to %s', async (_, doors, hasConsole, location) => {
    await using server = await start(doors, hasConsole)

    const { status, headers } = await ask(server.url, { headers: { accept: BROWSER } })

    expect([status, headers.get('location'), headers.get('vary')]).toEqual([302, location, 'Accept'])
  })

  test.each(['*/*', 'application/json', 'text/event-stream', 'text/html;q=0', 'text/html; q=0.00, */*'])(
    'with Accept %s says where things are',
    async (accept) => {
      await using server = await start(['ag-ui', 'openai'], false)

      const answer = await ask(server.url, { headers: { accept } })

      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
      expect((await answer.text()).match(/\/\S*/g)).toEqual([
        ...['/docs', '/openapi.json', '/', '/copilotkit', '/v1/responses', '/v1', '/sessions/{id}/messages', '/health'],
      ])
    },
  )

  test('is open to everybody, while POST / belongs to AG-UI and other methods are refused', async () => {
    await using server = await start()
    await using closed = await start(['rest'])
    const post = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }

    expect((await ask(server.url, { method: 'HEAD' })).status).toBe(200)
    expect((await ask(server.url, post)).status).toBe(401)
    expect((await ask(closed.url, post)).status).toBe(404)
    const refused = await ask(server.url, { method: 'DELETE' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS'])
  })
})
