// The page of GET /docs in a real browser: it reads the document, sends requests, shows answers as text, and obeys its policy.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import { doorNames } from '../../src/doors.ts'
import { createOpenApiRoutes } from '../../src/http/open-api/routes.ts'
import { createDocsRoutes } from '../../src/http/pages/docs/routes.ts'
import type { Route } from '../../src/http/route.ts'
import { startServer, userToken } from '../../src/http/testing/server-fixture.ts'
import { connectBrowser } from '../clients/chat-page.ts'

const HOSTILE = '<img src=x onerror=alert(1)>\u202eevil'

const notes: Route = {
  body: 'message',
  method: 'POST',
  path: '/notes/:id',
  door: 'rest',
  role: 'user',
  summary: `Say it again ${HOSTILE}`,
  describe: () => ({
    tag: 'Notes',
    description: 'Says `it` again.',
    query: { mood: z.enum(['calm', 'loud']).optional() },
    body: {
      schema: z.looseObject({ text: z.string().describe(`What to say. ${HOSTILE}`) }),
      examples: { short: { text: 'Hi' }, long: { text: HOSTILE } },
    },
    responses: { 200: { description: 'It.', content: { 'text/event-stream': { schema: z.unknown() } } } },
    errors: ['session_not_found'],
  }),
  async handle(request, reply) {
    const body = await request.json()
    const stream = reply.sse()
    await stream.write(`data: ${JSON.stringify([request.params.id, request.query.get('mood'), body])}\n\n`)
    stream.end()
  },
}

/** Answers until the reader leaves. */
const endless: Route = {
  body: 'none',
  method: 'GET',
  path: '/endless',
  door: null,
  role: 'public',
  summary: 'Goes on',
  describe: () => ({
    tag: 'Other',
    responses: { 200: { description: 'Events.', content: { 'text/event-stream': { schema: z.unknown() } } } },
    errors: [],
  }),
  async handle(request, reply) {
    const stream = reply.sse()
    await stream.write('data: 1\n\n')
    await new Promise<void>((resolve) => request.signal.addEventListener('abort', () => resolve()))
  },
}

const start = (tokenRequired = false) => {
  const routes = [notes, endless, ...createDocsRoutes()]
  return startServer({
    routes: [
      ...routes,
      ...createOpenApiRoutes({
        ...{ title: 'Test', version: '1', basePath: '', errors: {} },
        ...{ routes: async () => routes, publicDocs: false, doors: doorNames },
      }),
    ],
    auth: { tokenRequired },
  })
}

/** Everything that the browser complains about: scripts that fail, and what the policy refused. */
function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => complaints.push(dialog.message()))
  return complaints
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** What axe finds wrong, in one theme. */
async function barriersOf(page: Page, colorScheme: 'light' | 'dark'): Promise<unknown> {
  await page.emulateMedia({ colorScheme })
  await page.evaluate(readFileSync(AXE, 'utf8'))
  return page.evaluate('axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))')
}

test.skipIf(inject('browser') === null)(
  'a person finds a route, changes the example, sends it and reads the answer',
  { timeout: 120_000 },
  async () => {
    await using server = await start()
    await using browser = await connectBrowser()
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } })
    const complaints = complaintsOf(page)
    await page.goto(`${server.url}/docs`)
    await expect.poll(() => page.title()).toBe('Test 1')

    await page.keyboard.press('/')
    await page.keyboard.type('again post')
    await expect.poll(() => page.locator('#status').textContent()).toBe('1 route fits.')
    await page.keyboard.press('Tab')
    const operation = page.locator('[id="notes/postNotesId"]')
    await operation.locator('summary').first().focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => new URL(page.url()).hash).toBe('#notes/postNotesId')
    expect(await operation.locator('.chip').allTextContents()).toEqual(['user', 'rest'])

    await operation.getByLabel('id path required').fill('a/b')
    await operation.getByLabel('mood query').selectOption('loud')
    await operation.getByLabel('Example', { exact: true }).first().selectOption('long')
    await operation.getByRole('button', { name: 'Send' }).click()
    const body = operation.getByLabel('Body', { exact: true })
    await expect.poll(() => body.textContent()).toContain('data:')

    // Text of others is text: no element is made of it, and what is hidden in it is seen.
    expect(await body.textContent()).toBe(
      `: ok\n\ndata: ["a/b","loud",{"text":"<img src=x onerror=alert(1)>\\u202eevil"}]\n\n`,
    )
    expect(await page.locator('img').count()).toBe(0)
    expect(await operation.locator('.answer .line').textContent()).toMatch(/^200 OK · \d+\.\d\d s · \d+ bytes$/)
    await operation.getByText('curl', { exact: true }).click()
    expect(await operation.getByLabel('The same with curl').textContent()).toContain(
      `curl '${server.url}/notes/a%2Fb?mood=loud' \\\n  -H 'Content-Type: application/json'`,
    )
    await operation.getByText('Failures').click()
    await expect
      .poll(() => operation.locator('.failures > .status > summary').allTextContents())
      .toContain('404 Session not found. Door closed.')
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect([await barriersOf(page, 'light'), await barriersOf(page, 'dark')]).toEqual([[], []])
    expect(complaints).toEqual([])
  },
)

test.skipIf(inject('browser') === null)(
  'a link opens a route, a stream is shown live and can be stopped',
  { timeout: 120_000 },
  async () => {
    await using server = await start()
    await using browser = await connectBrowser()
    const page = await browser.newPage()
    await page.goto(`${server.url}/docs#other/getEndless`)
    const operation = page.locator('[id="other/getEndless"]')
    await operation.getByRole('button', { name: 'Send' }).click()
    await expect.poll(() => operation.getByLabel('Body', { exact: true }).textContent()).toContain('data: 1')

    await operation.getByRole('button', { name: 'Stop' }).click()

    await expect.poll(() => operation.locator('.answer .line').textContent()).toContain('stopped')
    expect(await operation.getByRole('button', { name: 'Stop' }).isVisible()).toBe(false)
  },
)

test.skipIf(inject('browser') === null)(
  'a server that needs a token is asked with the one of the person, which stays in the tab',
  { timeout: 120_000 },
  async () => {
    await using server = await start(true)
    await using browser = await connectBrowser()
    const page = await browser.newPage()
    await page.goto(`${server.url}/docs`)
    await expect.poll(() => page.locator('#status').textContent()).toContain('asks for a token')

    await page.keyboard.type('wrong\n')
    await expect.poll(() => page.locator('#status').textContent()).toContain('no valid bearer token')
    await page.locator('#token').fill(userToken.token)
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.operation').count()).toBe(4)

    const operation = page.locator('[id="notes/postNotesId"]')
    await operation.locator('summary').first().click()
    await operation.getByLabel('id path required').fill('x')
    await operation.getByRole('button', { name: 'Send' }).click()
    await expect.poll(() => operation.locator('.answer .line').textContent()).toContain('200 OK')
    // The token is neither in the curl command nor anywhere else that others see.
    expect(await page.locator('body').innerHTML()).not.toContain(userToken.token)
    expect(
      await page.evaluate('[Object.keys(sessionStorage), Object.keys(localStorage), document.cookie, location.search]'),
    ).toEqual([['docs-token'], [], '', ''])
  },
)
