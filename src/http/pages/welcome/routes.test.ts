import { hash } from 'node:crypto'
import { Script } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { echo, route, startServer, type TestServerOptions } from '../../testing/server-fixture.ts'
import { createWelcomeRoutes } from './routes.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const talk = echo('POST /', { door: 'ag-ui' })

const start = (options: Partial<TestServerOptions> = {}) =>
  startServer({ routes: [...createWelcomeRoutes(), talk], ...options })

/** A problem without the members that differ in every answer. */
async function problemAt(url: string, accept?: string) {
  const answer = await fetch(url, accept === undefined ? {} : { headers: { accept } })
  const { correlation_id: _, ...problem }: Record<string, unknown> = JSON.parse(await answer.text())
  return { allow: answer.headers.get('allow'), type: answer.headers.get('content-type'), problem }
}

describe('GET / for a browser', () => {
  test('is a page whose policy allows its own style and script, and nothing else', async () => {
    await using server = await start()

    const answer = await fetch(server.url, { headers: { accept: BROWSER } })
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
    expect(answer.headers.get('cache-control')).toBe('no-store')
    // The parts became one script: no name is declared twice, and nothing is imported.
    expect(() => new Script(/<script type="module">([\s\S]+)<\/script>/.exec(html)?.[1] ?? '')).not.toThrow()
    // The page must not contain what the policy would refuse.
    expect(html.match(/<[^>]+\s(?:on\w+|style|src)=|<(?:script|style)/g)).toEqual(['<style', '<script'])
    expect(
      html.match(/https?:\/\/\w|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(/g),
    ).toBeNull()
  })

  test('opens without a token and reveals nothing, while talking needs one', async () => {
    await using open = await start()
    await using closed = await start({ auth: { tokenRequired: true } })
    const page = async (url: string) => (await fetch(url, { headers: { accept: BROWSER } })).text()
    const post = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }

    expect(await page(closed.url)).toBe(await page(open.url))
    expect((await fetch(closed.url, post)).status).toBe(401)
    expect((await fetch(open.url, post)).status).toBe(200)
  })

  test('is closed together with its door', async () => {
    await using server = await start({ doors: ['rest'] })

    expect((await problemAt(server.url, BROWSER)).problem).toMatchObject({ status: 404, code: 'door_closed' })
  })

  test.each([undefined, '*/*', 'application/json', 'text/event-stream', 'text/html;q=0', 'text/html; q=0.00, */*'])(
    'with Accept %s it answers like a path without GET',
    async (accept) => {
      await using server = await start()
      await using without = await startServer({ routes: [talk] })

      const answer = await problemAt(server.url, accept)

      expect(answer).toEqual(await problemAt(without.url, accept))
      expect(answer).toMatchObject({ allow: 'POST, OPTIONS', problem: { status: 405, code: 'method_not_allowed' } })
    },
  )
})

test('an answer without its own policy may load nothing', async () => {
  await using server = await start({
    routes: [route('GET /', (_request, reply) => reply.text(200, '<p>', 'text/html'))],
  })

  expect((await fetch(server.url)).headers.get('content-security-policy')).toBe("default-src 'none'")
})
