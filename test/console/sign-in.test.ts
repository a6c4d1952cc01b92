// Signing in to the console in a browser with a passkey of its own: tokens, what needs the passkey once there is one, a start without a
// network, and messages of a push service.

import { afterAll, expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { type ConsoleHouse, openConsoleHouse } from './support/console-house.ts'
import { barriersOf, DESK, lookAt, PHONE, signIn } from './support/console-page.ts'
import {
  givePasskey,
  heading,
  leftovers,
  NOTHING,
  openPage,
  operatorToken,
  pasteToken,
} from './support/sign-in-steps.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 180_000 }
const SLOW = { timeout: 30_000 }

/** One server for the tests that need no passkey. */
let shared: Promise<ConsoleHouse> | null = null
function sharedHouse(): Promise<ConsoleHouse> {
  shared ??= openConsoleHouse()
  return shared
}
afterAll(async () => (await shared)?.[Symbol.asyncDispose]())

inBrowser('a token signs in when the server answers, and the page that was asked for opens', BUSY, async () => {
  const house = await sharedHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await openPage(browser, house)
  const token = await operatorToken(house)
  await page.goto(`${house.url}/console/settings/theme?x=1`)
  await pasteToken(page, 'not-a-token')
  await page.getByText('The server does not know this token').waitFor()
  await house.stop()
  await pasteToken(page, token)
  await page.getByText('The server does not answer').waitFor()
  await house.start()
  await page.getByRole('button', { name: 'Try again' }).click()
  await heading(page, 'Theme').waitFor()
  expect(page.url()).toBe(`${house.url}/console/settings/theme?x=1`)
  // The page has a token of its own, and has forgotten the one that was pasted. A second tab gets it from the first.
  expect(await page.evaluate<string[]>('Object.values(sessionStorage)')).not.toContain(token)
  const other = await openPage(browser, house, page.context())
  await other.page.goto(`${house.url}/console/settings/theme`)
  await heading(other.page, 'Theme').waitFor()
  await other.page.close()

  // Whoever is revoked is out at once, and is told why.
  const { device } = await page.evaluate<{ device: { device_id: string } }>(
    `fetch('/me', { headers: { authorization: 'Bearer ' + sessionStorage.getItem('quarterdeck.token') } }).then((one) => one.json())`,
  )
  await house.client.devices.revoke(device.device_id)
  await page.getByText('This device was signed out').waitFor()
  await expect.poll(() => leftovers(page), SLOW).toEqual(NOTHING)
  expect(complaints).toEqual([])
})

inBrowser('a link that was used up is forgotten as soon as somebody has signed in another way', BUSY, async () => {
  const house = await sharedHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await openPage(browser, house)
  await page.goto(`${house.url}/console/settings/theme#code=used-up`)
  const trouble = page.getByText('only for five minutes')
  await trouble.waitFor()
  await pasteToken(page, await operatorToken(house))
  await heading(page, 'Theme').waitFor()
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
  await heading(page, 'Sign in').waitFor()
  expect(await trouble.count()).toBe(0)
  expect(complaints).toEqual([])
})

inBrowser('once there is a passkey, what is critical needs it at every door', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/settings/passkeys' })
  await givePasskey(page)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByLabel('Name').fill('Ada’s finger')
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByRole('list', { name: 'Passkeys' }).getByText('Ada’s finger').waitFor()

  // A program with the operator's token is sent to the console, and nothing happens.
  await house.say('pay')
  await expect.poll(async () => (await house.client.approvals({ status: 'pending' })).length, SLOW).toBe(1)
  const [waiting] = await house.client.approvals({ status: 'pending' })
  if (waiting === undefined) throw new Error('nothing waits')
  const inbox = `/console/inbox/${waiting.approval_id}`
  await expect(house.client.approve(waiting)).rejects.toMatchObject({
    code: 'passkey_required',
    problem: { url: expect.stringContaining(inbox) },
  })
  expect(house.ran).toEqual([])

  await page.goto(`${house.url}${inbox}`)
  await page.getByText('Harbour office').first().waitFor()
  await page.getByRole('button', { name: /^Approve/ }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Approve/ })
    .click()
  await expect.poll(() => house.ran, SLOW).toEqual([{ to: 'Harbour office', amount: 250 }])

  // So does a new device, and the device that has the link needs none.
  await page.goto(`${house.url}/console/settings/devices`)
  await page.getByRole('button', { name: 'Add a device' }).click()
  await page.getByRole('button', { name: 'Make a link' }).click()
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  const link = await page.getByRole('dialog').locator('code').first().innerText()
  const phone = await openPage(browser, house)
  await phone.page.goto(link)
  await phone.page.getByRole('navigation').first().waitFor()
  await page.getByText('is signed in.').waitFor()
  expect((await house.client.devices.list()).map(({ kept }) => kept)).toEqual([false, true])

  // Signed out, the same browser needs it again. Changing one's mind uses nothing up.
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click()
  await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
  await heading(page, 'Sign in').waitFor()
  await page.goto(await house.link('/settings/passkeys'))
  await heading(page, 'Confirm that it is you').waitFor()
  await page.evaluate(`navigator.credentials.get = async () => { throw new DOMException('no', 'NotAllowedError') }`)
  await page.getByRole('button', { name: 'Use your passkey' }).click()
  await page.getByText('You did not confirm with your passkey').waitFor()
  await page.evaluate('delete navigator.credentials.get')
  await page.getByRole('button', { name: 'Use your passkey' }).click()

  await page.getByRole('button', { name: 'Remove Ada’s finger' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('Nobody has a passkey').waitFor()
  expect([complaints, phone.complaints]).toEqual([[], []])
})

inBrowser('a passkey is offered first, and signs in alone', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/settings/passkeys' })
  await givePasskey(page)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByRole('list', { name: 'Passkeys' }).waitFor()
  const leave = async () => {
    await page.goto(`${house.url}/console/settings/devices`)
    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
    await heading(page, 'Sign in').waitFor()
  }
  await leave()
  const offer = page.getByRole('button', { name: 'Sign in with a passkey' })
  await offer.waitFor()
  expect(await page.getByRole('button').allInnerTexts()).toEqual(['Sign in with a passkey', 'Sign in'])
  for (const viewport of [{ width: 1440, height: 900 }, { width: 1024, height: 768 }, PHONE]) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await barriersOf(page)).toEqual([])
      expect(await lookAt(page)).toMatchObject({
        headings: ['Sign in'],
        primaryButtons: ['Sign in with a passkey'],
        ...{ tooWide: 0, smallTargets: [], focus: 'h1 Sign in' },
      })
    }
  }
  await page.setViewportSize(DESK)

  await page.evaluate(`navigator.credentials.get = async () => { throw new DOMException('no', 'NotAllowedError') }`)
  await offer.click()
  await page.getByText('You did not confirm with your passkey').waitFor()
  await page.evaluate('delete navigator.credentials.get')
  await page.goto(`${house.url}/console/settings/theme?x=1`)
  await page.getByLabel(/Stay signed in/).check()
  await offer.click()
  await heading(page, 'Theme').waitFor()
  expect(page.url()).toBe(`${house.url}/console/settings/theme?x=1`)
  expect((await house.client.devices.list()).map(({ kept }) => kept)).toEqual([true])

  // Another browser has no passkey, and the code and the token are still there.
  const other = await openPage(browser, house)
  await other.page.goto(`${house.url}/console`)
  await other.page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
  await other.page.getByLabel('paste the operator’s token').waitFor()

  // One that was removed signs nobody in, and once there is none it is not offered.
  await page.goto(`${house.url}/console/settings/passkeys`)
  await page.getByRole('button', { name: /^Remove/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('Nobody has a passkey').waitFor()
  await other.page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await other.page.getByText('Nobody can sign in with a passkey at this address').waitFor()
  await leave()
  await page.getByLabel('paste the operator’s token').waitFor()
  expect(await offer.count()).toBe(0)
  expect([complaints, other.complaints]).toEqual([[], []])
})

inBrowser('the address by number leads to localhost, and the console starts without a network', BUSY, async () => {
  const house = await sharedHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/settings/theme' })
  await page.goto(`${house.url.replace('localhost', '127.0.0.1')}/console/settings/theme`)
  expect(page.url()).toBe(`${house.url}/console/settings/theme`)
  await expect.poll(async () => (await leftovers(page)).workers, SLOW).toBe(1)
  await expect
    .poll(
      () =>
        page.evaluate<boolean>(
          `(async () => (await caches.match(location.origin + '/console/')) !== undefined &&
            performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/')).length > 0 &&
            (await Promise.all(performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/'))
              .map(({ name }) => caches.match(name)))).every((one) => one !== undefined))()`,
        ),
      SLOW,
    )
    .toBe(true)
  // Only files of the console are kept: no answer of the server, and no token.
  const keptFiles = await page.evaluate<string[]>(
    `(async () => (await Promise.all((await caches.keys()).map(async (name) =>
      (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)))).flat())()`,
  )
  expect(keptFiles.filter((path) => path !== '/console/' && !path.startsWith('/console/assets/'))).toEqual([])

  await house.stop()
  await page.reload()
  await heading(page, 'Theme').waitFor()
  await page.getByText('Not connected.').waitFor()
  await page.goto(`${house.url}/console/settings/theme?again`)
  await heading(page, 'Theme').waitFor()
  await house.start()
  await page.getByText('Not connected.').waitFor({ state: 'detached' })
  expect(complaints.filter((one) => !one.startsWith('request: http://127.0.0.1'))).toEqual([])
})

inBrowser('a push message is shown with its words alone, and leads to its question', BUSY, async () => {
  const house = await sharedHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/settings/theme' })
  const cdp = await page.context().newCDPSession(page)
  const registered = new Promise<string>((resolve) =>
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [one] }) => one && resolve(one.registrationId)),
  )
  await cdp.send('ServiceWorker.enable')
  await expect.poll(() => page.context().serviceWorkers().length, SLOW).toBe(1)
  const [worker] = page.context().serviceWorkers()
  if (worker === undefined) throw new Error('there is no service worker')
  // A browser without a screen shows no notifications, so the worker keeps what it would have shown.
  await worker.evaluate('self.shown = []; registration.showNotification = async (...one) => void shown.push(one)')
  const send = async (data: string) =>
    cdp.send('ServiceWorker.deliverPushMessage', { origin: `${house.url}/`, registrationId: await registered, data })
  const message = { title: 'helper asks to call a tool', body: 'Tool pay, risk critical.', tag: 'a-1' }
  await send(JSON.stringify({ ...message, url: 'https://deck.example.com/x/console/inbox/a-1', silent: true }))
  await send('not JSON')
  const shown = () => worker.evaluate<[string, object][]>('shown')
  await expect.poll(async () => (await shown()).length, SLOW).toBe(2)
  expect(await shown()).toMatchObject([
    [message.title, { body: message.body, tag: 'a-1', silent: true, data: { path: '/inbox/a-1' } }],
    ['Something waits for you', { body: '', data: { path: '/inbox' } }],
  ])
  expect(JSON.stringify(await shown())).not.toContain('actions')

  // The open page goes there, here and not at the address of elsewhere.
  await worker.evaluate(
    `dispatchEvent(Object.assign(new Event('notificationclick'), {
      notification: { close() {}, data: { path: '/inbox/a-1' } }, waitUntil: (work) => work.catch(() => {}) }))`,
  )
  await page.waitForURL(`${house.url}/console/inbox/a-1`)
  expect(complaints).toEqual([])
})

inBrowser('whoever a proxy has signed in is in at once, and somebody who may not decide is told', BUSY, async () => {
  const proxy = { trusted: ['127.0.0.1', '::1'], name: 'corp', roles: { operator: 'sre' } }
  await using house = await openConsoleHouse({ settings: { proxy_auth: proxy } })
  await using browser = await connectBrowser()
  const open = async (headers: Record<string, string>) => {
    const context = await browser.newContext({ viewport: DESK, extraHTTPHeaders: headers })
    const opened = await openPage(browser, house, context)
    await opened.page.goto(`${house.url}/console/settings/about`)
    return { ...opened, context }
  }
  const ada = await open({
    'X-Forwarded-User': 'ada',
    'X-Forwarded-Groups': 'sre',
    'X-Forwarded-Email': 'ada@example.com',
  })
  await heading(ada.page, 'About').waitFor()
  await ada.page.getByText('corp:ada, by the proxy').waitFor()
  await ada.page.getByText('ada@example.com').waitFor()
  expect(await ada.page.getByRole('button', { name: 'Sign out' }).count()).toBe(0)
  await ada.go('/inbox')
  await heading(ada.page, 'Inbox').waitFor()
  expect((await leftovers(ada.page)).session).not.toContain('quarterdeck.token')
  // Her time at the proxy is over.
  await ada.context.setExtraHTTPHeaders({})
  await ada.go('/audit')
  await ada.page.getByText('The proxy in front of this server no longer says who you are').waitFor()

  const bob = await open({ 'X-Forwarded-User': 'bob' })
  await heading(bob.page, 'Sign in').waitFor()
  await bob.page.getByText('You are signed in as corp:bob').waitFor()
  const nobody = await open({})
  await heading(nobody.page, 'Sign in').waitFor()
  expect([ada.complaints, bob.complaints, nobody.complaints]).toEqual([[], [], []])
})
