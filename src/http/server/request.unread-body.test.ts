import { expect, test } from 'vitest'
import { createManualClock, openRaw, route, startServer, until } from '../testing/server-fixture.ts'

test('a small body that is still arriving after the answer has the usual time, then the connection is closed', async () => {
  const clock = createManualClock()
  const routes = [
    route('POST /hello', (_request, reply) => reply.json(200, 'hello')),
    route('GET /again', (_request, reply) => reply.json(200, 'again')),
  ]
  // Node closes a silent connection. This one could go on by sending a byte now and then.
  await using server = await startServer({ routes, clock, limits: { keepAliveMs: 600_000 } })
  const head = (line: string, ...more: string[]) =>
    [`${line} HTTP/1.1`, `Host: 127.0.0.1:${server.port}`, ...more, '', ''].join('\r\n')
  const [slow, quick] = [await openRaw(server.port), await openRaw(server.port)]
  for (const client of [slow, quick]) {
    client.send(head('POST /hello', 'Content-Length: 10'))
    await client.until(/"hello"$/)
  }
  await until(() => server.server.stats().inWork === 0)

  slow.send('0')
  quick.send(`0123456789${head('GET /again')}`)
  await quick.until(/"again"$/)
  clock.advance(29_999)
  expect(server.server.stats().connections).toBe(2)
  clock.advance(1)

  await slow.closed()
  await until(() => server.server.stats().connections === 1)
  quick.send(head('GET /again', 'Connection: close'))
  expect(await quick.closed()).toMatch(/"again"$/)
})
