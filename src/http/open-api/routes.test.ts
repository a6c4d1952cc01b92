import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Door, Route } from '../route.ts'
import { startServer } from '../testing/server-fixture.ts'
import { createOpenApiRoutes } from './routes.ts'

const start = (publicDocs: boolean, tokenRequired: boolean) =>
  startServer({
    routes: createOpenApiRoutes({ title: 'Test', version: '1', routes: [], publicDocs }),
    auth: { tokenRequired },
  })

test('GET /openapi.json returns a document that includes its own route', async () => {
  await using server = await start(false, false)

  const answer = await fetch(`${server.url}/openapi.json`)

  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
  expect(await answer.json()).toMatchObject({
    openapi: '3.1.1',
    info: { title: 'Test', version: '1' },
    paths: { '/openapi.json': { get: {} }, '/docs': { get: {} } },
  })
})

describe('GET /docs', () => {
  test('is a page whose policy allows only its own style and script', async () => {
    await using server = await start(false, false)

    const answer = await fetch(`${server.url}/docs`)
    const html = await answer.text()

    const hashOf = (pattern: RegExp) => `'sha256-${hash('sha256', pattern.exec(html)?.[1] ?? '', 'base64')}'`
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(answer.headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${hashOf(/<script type="module">([\s\S]+)<\/script>/)}`,
      `style-src ${hashOf(/<style>([\s\S]+)<\/style>/)}`,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
    // The page must not contain what the policy would refuse.
    expect(html.match(/<[^>]+\s(?:on\w+|style|src)=|<(?:script|style)/g)).toEqual(['<style', '<script'])
    expect(html.match(/https?:|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(/g)).toBeNull()
  })
})

test.each(['/openapi.json', '/docs'])('%s needs a token, unless the documentation is public', async (path) => {
  await using closed = await start(false, true)
  await using open = await start(true, true)

  expect((await fetch(closed.url + path)).status).toBe(401)
  expect((await fetch(open.url + path)).status).toBe(200)
})

test('the document lists only open doors', async () => {
  const route = (path: string, door: Door | null): Route => ({
    method: 'GET',
    path,
    door,
    role: 'user',
    body: 'none',
    summary: path,
    describe: { tag: 'Test', responses: { 204: { description: 'It.' } }, errors: [] },
    handle: async (_request, reply) => reply.empty(204),
  })
  const routes = [route('/chat', 'rest'), route('/capabilities', 'ag-ui'), route('/runs', null)]
  const options = { title: 'Test', version: '1', routes, publicDocs: false, doors: ['rest'] as const }
  await using server = await startServer({ routes: createOpenApiRoutes(options) })

  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: object }
  expect(Object.keys(paths).sort()).toEqual(['/chat', '/docs', '/openapi.json', '/runs'])
})
