import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Route } from '../route.ts'
import { startServer } from '../testing/server-fixture.ts'
import { createOpenApiRoutes } from './routes.ts'
import { chromiumPath, openBrowser } from './testing/browser.ts'

const notes: Route = {
  body: 'message',
  method: 'POST',
  path: '/notes/:id',
  door: null,
  role: 'user',
  summary: 'Say it again',
  describe: {
    tag: 'Notes',
    body: { schema: z.looseObject({ text: z.string().describe('What to say.') }), examples: { short: { text: 'Hi' } } },
    responses: { 200: { description: 'It.', content: { 'text/event-stream': { schema: z.unknown() } } } },
    errors: ['session_not_found'],
  },
  async handle(request, reply) {
    const body = await request.json()
    const stream = reply.sse()
    await stream.write(`data: ${JSON.stringify([request.params.id, body])}\n\n`)
    stream.end()
  },
}

test.skipIf(chromiumPath === null)(
  'the page sends the example of an operation and shows the streamed answer',
  { timeout: 60_000 },
  async () => {
    await using server = await startServer({
      routes: [notes, ...createOpenApiRoutes({ title: 'Test', version: '1', routes: [notes], publicDocs: false })],
    })
    await using browser = await openBrowser(chromiumPath ?? '')
    const page = await browser.open(`${server.url}/docs`)
    await page.until('document.querySelectorAll("main > section > details").length === 3')

    await page.value('(document.getElementById("postNotesId").open = true)')
    await page.until('document.querySelector("#postNotesId form") !== null')
    await page.value('(document.querySelector("#postNotesId input").value = "a/b")')
    await page.value('document.querySelector("#postNotesId form").requestSubmit()')
    await page.until('document.querySelector("#postNotesId pre").textContent.includes("data:")')

    expect(await page.value('document.title')).toBe('Test 1')
    expect(await page.value('document.querySelector("#postNotesId pre").textContent')).toBe(
      '200 text/event-stream\n\n: ok\n\ndata: ["a/b",{"text":"Hi"}]\n\n',
    )
    expect(await page.value('document.querySelector("#postNotesId form table").textContent')).toBe(
      'textstring, requiredWhat to say.',
    )
    const answers = await page.value('document.querySelector("#postNotesId > section").textContent')
    for (const shown of ['200 It.', '404 ', '"code": "session_not_found"', 'correlation_id'])
      expect(answers).toContain(shown)
    expect(answers).not.toContain('undefined')
    expect(page.complaints).toEqual([])
  },
)
