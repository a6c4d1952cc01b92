// examples/clients/browser.html in a real browser, on another origin than the server's.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import { connectBrowser } from '../clients/chat-page.ts'
import { startScriptedApp } from '../e2e/scripted-app.ts'

const html = await readFile(join(import.meta.dirname, '../../examples/clients/browser.html'), 'utf8')

test.each([
  ['the answer as it comes', testAgent.name, /^> Hello!\nGood day\.\n\n$/],
  ['a refusal', 'nobody', /^> Hello!\n\n.*nobody.*\n\n$/],
])('browser.html shows %s', async (_, agent, expected) => {
  await using app = await startScriptedApp([{ parts: [{ text: 'Good ' }, { text: 'day.' }] }])
  await using browser = await connectBrowser()
  const page = await browser.newPage()
  await page.route('http://127.0.0.1:9/**', (route) => route.fulfill({ contentType: 'text/html', body: html }))

  await page.goto(`http://127.0.0.1:9/?${new URLSearchParams({ url: app.url, agent, send: '1' })}`)

  await expect.poll(() => page.locator('#answer').textContent()).toMatch(expected)
})
