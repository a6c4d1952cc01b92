// Text of agents, tools, files and users that tries to run, to load, to hide or to break the page. It is shown as text on every page:
// nothing runs, nothing is fetched, and the policy of the pages has nothing to refuse.

import { expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { AGENT, type ConsoleHouse, openConsoleHouse } from '../console/support/console-house.ts'
import { type ConsolePage, signIn } from '../console/support/console-page.ts'
import { HIDDEN, LONG_LINE, MARKDOWN, SCRIPT, SHORT } from '../console/support/hostile.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 300_000 }
const LATE = { timeout: 60_000 }

const ROGUE = 'rogue\u202e\u200b\u{e0041}\u3164'
const FILE = `a<img src=x onerror="window.ran='name'">.txt`
/** What the author of an agent file controls. */
const AGENT_MORE = `author: ${JSON.stringify(ROGUE)}
suggestions: [${JSON.stringify(ROGUE)}]
`

/** Text and attributes with a character that nobody sees. A field's value is for whoever writes in it. */
const FIND_HIDDEN = `function find(root) {
  const hidden = /[\\u115f\\u1160\\u200b\\u202a-\\u202e\\u2060-\\u2069\\u2800\\u3164\\ufeff\\u{e0000}-\\u{e007f}]/u
  const found = hidden.test(document.title) ? ['title'] : []
  for (const one of root.querySelectorAll('*')) {
    const where = one.localName + '.' + one.className + ' in ' + one.parentElement?.className
    for (const node of one.childNodes)
      if (node.nodeType === 3 && hidden.test(node.nodeValue)) found.push(where + ': ' + node.nodeValue)
    for (const { name, value } of one.attributes)
      if (name !== 'value' && hidden.test(value)) found.push(where + ' ' + name + ': ' + value)
    if (one.shadowRoot !== null) found.push(...find(one.shadowRoot))
  }
  return found.map((text) => text.slice(0, 200))
}`

/** What hostile text would have left in the page. */
const traces = ({ page }: ConsolePage) =>
  page.evaluate(`[
    window.ran ?? 'nothing',
    document.querySelectorAll('iframe, object, embed, script:not([src]), body style, img:not([src^="blob:"]):not([src^="data:"])').length,
    document.querySelectorAll('[onerror], [onload], a[href^="javascript:"], a[href^="data:"]').length,
    getComputedStyle(document.body).display === 'none',
    document.documentElement.scrollWidth > innerWidth,
    (${FIND_HIDDEN})(document),
  ]`)
const NONE = ['nothing', 0, 0, false, false, []]

/** Every field that somebody else fills in. */
async function fill(house: ConsoleHouse): Promise<string> {
  const session = await house.say(`${SCRIPT} hostile ${MARKDOWN} ${HIDDEN}`)
  await house.client.signIn({ label: SHORT.slice(0, 100) })
  const refused = await house.say('note')
  await expect.poll(async () => (await house.client.approvals({ session: refused })).length, LATE).toBe(1)
  for (const one of await house.client.approvals({ session: refused })) {
    await house.client.reject(one, { reason: `${SCRIPT}${HIDDEN}` })
  }
  await house.say('fail')
  const shop = house.folder(`shop ${ROGUE}`, { 'a.txt': 'one\n', [FILE]: 'one\n', [`${ROGUE}.txt`]: ROGUE })
  const agent = house.agent('window-1', shop)
  const strange = house.agent(`window ${ROGUE}`, shop, ROGUE)
  await strange('heartbeat', { status_message: ROGUE }).catch(() => {})
  await agent('heartbeat', { status_message: SHORT, progress_snapshot: [{ label: SHORT, status: 'in_progress' }] })
  await agent('remote_log', { level: 'info', message: `${SCRIPT}${MARKDOWN}` })
  const later = (tool: string, input: object) => void agent(tool, input).catch(() => {})
  later('ask_approval', {
    ...{ title: SHORT, description: `${SCRIPT}\n${MARKDOWN}`, file_path: FILE },
    diff: `${SCRIPT}\n${MARKDOWN}\n${HIDDEN}\n${LONG_LINE.slice(0, 200_000)}\n`,
  })
  later('forward_prompt', { prompt_text: `${SCRIPT}\n${MARKDOWN}\n${HIDDEN}` })
  later('wait_for_instruction', { message: `${SCRIPT}\n${MARKDOWN}` })
  later('approve_tool', { tool_name: SHORT, input: { command: `${SCRIPT}${HIDDEN}` }, tool_use_id: 'toolu_1' })
  await expect.poll(async () => (await house.client.inbox()).items.length, LATE).toBe(5)
  return session
}

inBrowser('hostile text is text on every page, and nothing in it is hidden', BUSY, async () => {
  await using house = await openConsoleHouse({ agentMore: AGENT_MORE })
  const session = await fill(house)
  const { items } = await house.client.inbox()
  const { sessions } = await house.client.sessions.list({ owner: '*' })
  await using browser = await connectBrowser()
  const opened = await signIn(browser, house, { at: '/inbox' })
  const { page, complaints } = opened
  await page.getByRole('list', { name: 'Waiting' }).waitFor()
  const views = ['', '?view=timeline', '?view=log', '?view=replay', '?view=checkpoints', '?view=workspace']
  const paths = [
    ...items.map(({ id }) => `/inbox/${id}`),
    '/inbox?tab=done',
    `/chat/${session}`,
    '/sessions',
    `/sessions?q=${encodeURIComponent('click me')}`,
    ...sessions.flatMap(({ session_id }) => views.map((view) => `/sessions/${session_id}${view}`)),
    `/agents/${AGENT}`,
    ...['/chat', '/agents', `/agents/${AGENT}?tab=tools`, `/agents/${AGENT}?tab=file`, `/agents/${AGENT}?tab=tests`],
    ...['/usage', '/health', '/audit', '/settings', '/settings/devices', '/settings/channels', '/settings/keys'],
  ]

  const found: unknown[] = []
  for (const path of paths) {
    await opened.go(path)
    await page.locator('main h1, main h2').first().waitFor()
    await expect.poll(() => page.locator('main [aria-label="Loading"]').count(), LATE).toBe(0)
    // What is folded is text of others too.
    await page.evaluate(
      `for (const one of document.querySelectorAll('main [aria-expanded="false"]:not([aria-haspopup]), main details:not([open]) > summary')) one.click()`,
    )
    found.push([path, await traces(opened)])
  }

  expect(found).toEqual(paths.map((path) => [path, NONE]))
  expect(complaints).toEqual([])
})

inBrowser(
  'hidden characters stand out where one decides, and a line of a megabyte does not stop the page',
  BUSY,
  async () => {
    await using house = await openConsoleHouse()
    const session = await house.say('hostile')
    const long = await house.say('endless line')
    await using browser = await connectBrowser()
    const opened = await signIn(browser, house, { at: '/inbox' })
    const { page, complaints } = opened
    await page.getByRole('link', { name: /wipe/ }).first().click()
    const card = page.getByRole('article')
    for (const mark of ['<U+202E>', '<U+200B>', '<U+E0041>', '<U+3164>']) {
      await card.locator('mark', { hasText: mark }).first().waitFor()
    }
    expect(await card.innerText()).toContain(SCRIPT)
    // Hidden characters make it critical, whatever the tool says.
    expect(await card.getByText('Critical').count()).toBeGreaterThan(0)

    await opened.go(`/chat/${long}`)
    await page.getByRole('list', { name: 'Conversation' }).getByText('xxxxxxxxxx').first().waitFor()
    await opened.go(`/chat/${session}`)
    await page.getByRole('list', { name: 'Conversation' }).getByText('Picture: picture').first().waitFor()
    expect(await traces(opened)).toEqual(NONE)
    expect(complaints).toEqual([])
  },
)
