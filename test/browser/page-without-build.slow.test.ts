// examples/clients/browser.html in a real browser, on another origin than the server's.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import { connectBrowser } from '../clients/chat-page.ts'
import { startScriptedApp } from '../e2e/scripted-app.ts'

const html = await readFile(join(import.meta.dirname, '../../examples/clients/browser.html'), 'utf8')

test.skipIf(inject('browser') === null).each([
  ['the answer as it comes', testAgent.name, /^> Hello!\nGood day\.\n\n$/],
  ['a refusal', 'nobody', /^> Hello!\n\n.*nobody.*\n\n$/],
])('browser.html shows %s', async (_, agent, expected) => {
  await using app = await startScriptedApp([{ parts: [{ text: 'Good ' }, { text: 'day.' }] }])
  await using browser = await connectBrowser()
  const page = await browser.newPage()
  const pages = createServer((_request, reply) => reply.setHeader('content-type', 'text/html').end(html))
  onTestFinished(() => void pages.close())
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))

  await page.goto(
    `http://127.0.0.1:${(pages.address() as AddressInfo).port}/?${new URLSearchParams({ url: app.url, agent, send: '1' })}`,
  )

  await expect.poll(() => page.locator('#answer').textContent()).toMatch(expected)
})
