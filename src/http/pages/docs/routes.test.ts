import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { startServer } from '../../testing/server-fixture.ts'
import { createDocsRoutes } from './routes.ts'

const start = () => startServer({ routes: createDocsRoutes(), auth: { tokenRequired: true } })

describe('GET /docs', () => {
  test('is a page that needs no token, loads only its own files, and has nothing inline', async () => {
    await using server = await start()

    const answer = await fetch(`${server.url}/docs`)
    const html = await answer.text()

    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ])
    const policy = answer.headers.get('content-security-policy')?.split('; ') ?? []
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"])
      expect(policy).toContain(rule)
    // What the policy would refuse must not be there.
    expect(html.match(/<style|\son\w+=|\sstyle=|<script>/g)).toBeNull()
    expect([...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url)).toEqual([
      'data:,',
      './docs/page.css',
      './docs/page.js',
      '#routes',
    ])
  })

  test('finds its files also with a slash at the end, and every file that a script imports', async () => {
    await using server = await start()
    const read = async (path: string) => (await fetch(`${server.url}${path}`)).text()
    expect(await read('/docs/')).toContain('src="./page.js"')

    const seen = new Map<string, string>()
    const pending = ['page.js']
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (seen.has(name)) continue
      const answer = await fetch(`${server.url}/docs/${name}`)
      expect([name, answer.status, answer.headers.get('content-type')]).toEqual([
        name,
        200,
        'text/javascript; charset=utf-8',
      ])
      const script = await answer.text()
      seen.set(name, script)
      pending.push(...[...script.matchAll(/from '\.\/([^']+)'/g)].map(([, file = '']) => file))
    }

    expect(seen.size).toBeGreaterThan(5)
    const risky =
      /https?:\/\/(?!example\.com)|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(|localStorage|cookie/g
    expect([...seen.values()].flatMap((script) => script.match(risky) ?? [])).toEqual([])
  })

  test('has the pages for people below it, as text', async () => {
    await using server = await start()

    const answer = await fetch(`${server.url}/docs/do/use-the-console.md`)

    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(await answer.text()).toBe(readFileSync('docs/do/use-the-console.md', 'utf8'))
  })

  const unserved = [
    '/docs/routes.ts',
    '/docs/index.html',
    '/docs/read-api.test.ts',
    '/docs/x',
    '/docs/../console/routes.ts',
    '/docs/do/x.md',
    '/docs/openapi.json',
    '/docs/assets/house.svg',
    '/docs/do/%2e%2e/%2e%2e/README.md',
    '/docs/%2e%2e%2fREADME.md',
    '/docs/..%5cREADME.md',
    `/docs/do/${'x'.repeat(300)}.md`,
  ]
  test.each(unserved)('%s is not served', async (path) => {
    await using server = await start()

    expect((await fetch(`${server.url}${path}`)).status).toBe(404)
  })
})
