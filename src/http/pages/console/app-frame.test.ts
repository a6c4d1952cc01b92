import { expect, test } from 'vitest'
import { startServer } from '../../testing/server-fixture.ts'
import { createConsoleRoutes } from './routes.ts'

async function policyOf(query: string): Promise<string[]> {
  const frameOrigins = ['https://shop.example']
  const routes = createConsoleRoutes({ isOpen: true, basePath: '', folder: '/no/such/folder', frameOrigins })
  await using server = await startServer({ routes })
  const answer = await fetch(`http://127.0.0.1:${server.port}/console/app-frame?${query}`)
  return answer.headers.get('content-security-policy')?.split('; ') ?? []
}

const strict = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'media-src data: blob:',
  'font-src data:',
  "connect-src 'none'",
  "frame-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  'sandbox allow-scripts',
  "frame-ancestors 'self' https://shop.example",
]

test('an app that names nothing reaches nothing', async () => {
  expect(await policyOf('')).toEqual(strict)
})

test('an app reaches the domains that it names, and nothing of this machine or its network', async () => {
  const named = await policyOf(
    'connect=https://api.example.com&connect=wss://*.example.com:8443&resource=https://cdn.example',
  )

  expect(named[6]).toBe('connect-src https://api.example.com wss://*.example.com:8443')
  expect(named[1]).toBe("script-src 'unsafe-inline' https://cdn.example")
})

test.each([
  '*',
  'https:',
  'https://*',
  "'self'",
  'http://example.com',
  'https://localhost',
  'https://a.example/path',
  'https://a.example; sandbox allow-same-origin',
  'https://a.example https://b.example',
  'https://a.example\r\nX: y',
])('%s is not a domain, and changes nothing', async (domain) => {
  const each = ['connect', 'resource', 'frame'].map((name) => `${name}=${encodeURIComponent(domain)}`)

  expect(await policyOf(each.join('&'))).toEqual(strict)
})
