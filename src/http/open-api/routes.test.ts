import { expect, test } from 'vitest'
import type { Door, Route } from '../route.ts'
import { startServer } from '../testing/server-fixture.ts'
import { createOpenApiRoutes } from './routes.ts'

const about = { title: 'Test', version: '1', basePath: '', errors: {} }

const start = (publicDocs: boolean, tokenRequired: boolean) =>
  startServer({
    routes: createOpenApiRoutes({ ...about, routes: async () => [], publicDocs, doors: [] }),
    auth: { tokenRequired },
  })

test('GET /openapi.json returns a document that includes its own route', async () => {
  await using server = await start(false, false)

  const answer = await fetch(`${server.url}/openapi.json`)

  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
  expect(await answer.json()).toMatchObject({
    openapi: '3.1.1',
    info: { title: 'Test', version: '1' },
    paths: { '/openapi.json': { get: { 'x-role': 'user' } } },
  })
})

test('the document needs a token, unless it is public', async () => {
  await using closed = await start(false, true)
  await using open = await start(true, true)

  expect((await fetch(`${closed.url}/openapi.json`)).status).toBe(401)
  expect((await fetch(`${open.url}/openapi.json`)).status).toBe(200)
})

test('the document lists only open doors', async () => {
  const route = (path: string, door: Door | null): Route => ({
    method: 'GET',
    path,
    door,
    role: 'user',
    body: 'none',
    summary: path,
    describe: () => ({ tag: 'Test', responses: { 204: { description: 'It.' } }, errors: [] }),
    handle: async (_request, reply) => reply.empty(204),
  })
  const routes = [route('/chat', 'rest'), route('/capabilities', 'ag-ui'), route('/runs', null)]
  const options = { ...about, routes: async () => routes, publicDocs: false, doors: ['rest'] as const }
  await using server = await startServer({ routes: createOpenApiRoutes(options) })

  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: object }
  expect(Object.keys(paths).sort()).toEqual(['/chat', '/openapi.json', '/runs'])
})
