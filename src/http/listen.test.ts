import { createServer } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from './listen.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test.skipIf(process.platform !== 'linux')('many connections are taken in a few turns of the loop', async () => {
  const server = createServer()
  const { host, port, close } = await listen(server, { host: '127.0.0.1', port: 0 }, () => {})
  let taken = 0
  server.on('connection', () => {
    taken += 1
  })
  const clients = Array.from({ length: 100 }, () => connect(port, host))
  onTestFinished(() => {
    for (const client of clients) client.destroy()
    close()
    server.closeAllConnections()
    server.close()
  })

  let turns = 0
  for (; taken < clients.length; turns += 1) await turn()

  expect(turns).toBeLessThan(60)
})

test('a port that is in use is refused, also when the other one listens like this', async () => {
  const first = createServer()
  const second = createServer()
  const { host, port, close } = await listen(first, { host: '127.0.0.1', port: 0 }, () => {})
  onTestFinished(() => {
    close()
    first.close()
  })

  await expect(listen(second, { host, port }, () => {})).rejects.toMatchObject({
    code: 'config_invalid',
    details: { reason: 'EADDRINUSE' },
  })
})

test('one socket serves as well', async () => {
  const server = createServer((_request, response) => response.end('here'))
  const { host, port, close } = await listen(server, { host: '127.0.0.1', port: 0 }, () => {}, 1)
  onTestFinished(() => {
    close()
    server.close()
  })

  const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`http://${host}:${port}/`)))

  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(Array(20).fill('here'))
})

test('closed, it takes no more, and the port is free', async () => {
  const server = createServer()
  const { host, port, close } = await listen(server, { host: '127.0.0.1', port: 0 }, () => {})
  close()
  await new Promise((resolve) => server.close(resolve))

  const next = createServer()
  const again = await listen(next, { host, port }, () => {})
  again.close()
  next.close()

  expect(again.port).toBe(port)
})
