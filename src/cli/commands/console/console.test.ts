import { expect, test } from 'vitest'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { openSocketServer, Refusal } from '../ctl/testing/socket-server.ts'

const made = { code: 'abc', url: 'http://localhost:8000/console#code=abc', expires_at: '2026-11-15T09:05:00.000Z' }

async function run(answer: unknown, ...args: string[]) {
  const server = await openSocketServer({ 'POST /devices/codes': answer })
  const io = server.io()
  const code = await main(['console', ...args], io)
  return { code, out: io.printed(), err: io.complained(), sent: server.sent().map(({ body }) => body) }
}

test('quarterdeck console prints a link, for oneself or for somebody else', async () => {
  expect(await run(made)).toEqual({ code: 0, out: `${made.url}\n`, err: '', sent: [{}] })
  expect(await run(made, '--user', 'ada', '--json')).toEqual({
    ...{ code: 0, out: `${JSON.stringify(made)}\n`, err: '', sent: [{ user: 'ada' }] },
  })
})

test('quarterdeck console says what to do where a passkey is needed', async () => {
  const url = 'http://localhost:8000/console/settings'
  const { code, out, err } = await run(new Refusal(403, { code: 'passkey_required', detail: 'A passkey!', url }))

  expect([code, out]).toEqual([1, ''])
  expect(err).toContain('A new device needs a passkey')
  expect(err).toContain(`Open ${url} and sign in there with the operator’s token and your passkey.`)
})

test('quarterdeck console says that no server runs', async () => {
  const io = createTestIo({ cwd: await tempFolder(), env: { QUARTERDECK_OPERATOR_TOKEN: 'x'.repeat(20) } })

  expect(await main(['console'], io)).toBe(69)
  expect(io.complained()).toContain('No server runs for')
})
