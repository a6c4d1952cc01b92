import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../../../domain/clock.ts'
import { main } from '../../../main.ts'
import { createTestIo } from '../../../testing/test-io.ts'
import { ids, listed, openSocketServer, Refusal, records, sent, supervision } from '../testing/socket-server.ts'
import { openFullScreen } from './full-screen.ts'

const LEFT = '\x1b[?7h\x1b[?25h\x1b[?1049l'

/** A server whose inbox the test changes, and a person in front of it. */
async function openWatch(env: Record<string, string> = {}) {
  let items = [listed(records.diff)]
  const streams: ServerResponse[] = []
  const connected = Promise.withResolvers<void>()
  const server = await openSocketServer({
    'GET /inbox': () => ({ items, cursor: 'f.1' }),
    'GET /sessions': [{ session_id: ids.session, supervision }],
    'GET /inbox/events': (_: unknown, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('id: f.1\ndata: {"type":"cursor"}\n\n')
      streams.push(response)
      connected.resolve()
    },
    [`GET /approvals/${ids.diff}`]: sent(records.diff),
    [`POST /approvals/${ids.diff}`]: () => {
      change([])
      return { ok: true }
    },
  })
  function change(next: typeof items): void {
    items = next
    for (const stream of streams) stream.write('id: f.2\ndata: {"type":"feed","kind":"approval"}\n\n')
  }
  const stdin = new PassThrough()
  const io = server.io({ terminal: true, stdin, clock: createSystemClock(), env })
  const code = main(['ctl'], io)
  await io.until('src/a.ts +1 −1 (Faster search)')
  await connected.promise
  return { server, stdin, io, code, change, streams }
}

describe('quarterdeck ctl watch', () => {
  test('shows what waits, decides with a key, and gives the terminal back', async () => {
    const { server, stdin, io, code } = await openWatch({ NO_COLOR: '1' })
    stdin.write('a')
    await io.until('Nothing waits')
    stdin.write('q')
    expect([await code, server.sent().map(({ body }) => body)]).toEqual([
      0,
      [{ decision: 'approve', digest: 'digest-one' }],
    ])
    expect(io.printed().endsWith(LEFT)).toBe(true)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: no colours with NO_COLOR
    expect(io.printed()).not.toMatch(/\x1b\[\d+m/)
  })

  test('rings the bell for what is new, and not for what was there', async () => {
    const { stdin, io, code, change } = await openWatch()
    expect(io.printed()).not.toContain('\x07')
    change([listed(records.diff), listed({ ...records.call, title: 'Something new' })])
    await io.until('Something new')
    await io.until('\x07')
    stdin.write('q')
    expect(await code).toBe(0)
  })

  test('waits for a server that goes away, and goes on where it was', async () => {
    const { stdin, io, code, streams, change } = await openWatch()
    change([])
    streams.splice(0)[0]?.destroy()
    await io.until('the server is away')
    await io.until('Nothing waits')
    stdin.write('q')
    expect(await code).toBe(0)
  })

  test.each([
    ['Ctrl-C', 130],
    ['SIGTERM', 143],
    ['a crash', 70],
    ['the end of the terminal', 143],
  ])('%s ends it, with the terminal as before', async (how, expected) => {
    const { stdin, io, code } = await openWatch()
    if (how === 'Ctrl-C') stdin.write('\x03')
    else if (how === 'SIGTERM') io.signal('SIGTERM')
    else if (how === 'a crash') io.crash(new Error('a bug'))
    else stdin.end()
    expect([await code, io.printed().endsWith(LEFT)]).toEqual([expected, true])
  })

  test('a refusal is a line on the screen', async () => {
    const { server, stdin, io, code } = await openWatch()
    Object.assign(server.answers, {
      [`POST /approvals/${ids.diff}`]: new Refusal(409, { code: 'approval_decided', detail: 'Grace has rejected it.' }),
    })
    stdin.write('a')
    await io.until('Grace has rejected it.')
    stdin.write('q')
    expect(await code).toBe(0)
  })
})

test('a lent terminal is given back once, and not after the end', async () => {
  const io = createTestIo({ terminal: true, stdin: new PassThrough() })
  const nothing = () => {}
  const screen = openFullScreen(io, { onKey: nothing, onResize: nothing, onEnd: nothing })
  const entered = () => io.printed().split('\x1b[?1049h').length - 1
  await screen.lend(async () => {
    await screen.lend(async () => {})
    expect(entered()).toBe(1)
  })
  expect(entered()).toBe(2)
  await screen.lend(async () => screen.restore())
  expect([entered(), io.printed().endsWith(LEFT)]).toEqual([2, true])
})
