// The console of one of two servers on a real Postgres.

import { expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { findPostgres } from '../postgres/find-postgres.ts'
import { startPostgres } from '../postgres/server.ts'
import { openConsoleHouse } from './support/console-house.ts'
import { signIn } from './support/console-page.ts'

const LATE = { timeout: 60_000 }

test.skipIf(inject('browser') === null || findPostgres() === null)(
  'the console shows both servers, and what the other one writes into the audit trail',
  async () => {
    await using undo = new AsyncDisposableStack()
    const postgres = await startPostgres()
    undo.defer(() => postgres.discard())
    const settings = { store: postgres.url }
    const here = undo.use(await openConsoleHouse({ settings }))
    const there = await openConsoleHouse({ settings })
    const ports = [here, there].map(({ url }) => new URL(url).port)
    await using browser = await connectBrowser()
    const { page, complaints, go } = await signIn(browser, here, { at: '/health' })

    const rows = page.getByRole('table', { name: 'Servers' }).getByRole('row')
    await expect.poll(() => rows.count(), LATE).toBe(3)
    const text = (await rows.allInnerTexts()).join('\n')
    for (const port of ports) expect(text).toContain(`:${port}`)
    await page.getByText('2 servers', { exact: false }).waitFor()

    await signIn(browser, there, { at: '/inbox' })
    await go('/audit?kind=all')
    const entries = page.getByLabel('Entries')
    await expect.poll(() => entries.getByText('Server began its record').count(), LATE).toBe(2)
    await page.getByText(/ of 2 servers/).waitFor(LATE)
    // The list has its base once the chains were read after it.
    await page.waitForResponse('**/audit/chain')
    await signIn(browser, there, { at: '/inbox' })
    await page.getByRole('button', { name: /new entr/ }).click(LATE)
    await expect.poll(() => entries.getByText('Signed in').count(), LATE).toBe(3)

    await there[Symbol.asyncDispose]()
    await go('/health')
    await expect.poll(() => rows.count(), LATE).toBe(2)
    expect(complaints).toEqual([])
  },
)
