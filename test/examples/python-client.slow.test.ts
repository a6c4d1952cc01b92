import { spawnSync } from 'node:child_process'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { copyExample } from './copied-example.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython)
  process.stdout.write('SKIPPED: examples/python-client needs python3 (Debian: apt-get install python3).\n')

/** A way to the server that breaks once, in the middle of an answer. */
async function startBreakingWay(port: number) {
  let breaks = 0
  const way = createServer((client) => {
    const server = connect(port, '127.0.0.1')
    let bytes = 0
    server.on('data', (chunk) => {
      bytes += chunk.length
      if (breaks > 0 || bytes < 3_000) return
      breaks += 1
      client.destroy()
    })
    for (const socket of [client, server]) socket.on('error', () => {})
    client.pipe(server).pipe(client)
  })
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void way.close())
  return { host: `127.0.0.1:${(way.address() as AddressInfo).port}`, breaks: () => breaks }
}

test.skipIf(!hasPython)('python-client shows each word of an answer once, although its connection breaks', async () => {
  const { run, start } = await copyExample('python-client')
  const { port } = await start({ flags: ['--allowed-hosts', '127.0.0.1'] })
  const way = await startBreakingWay(port)

  const said = await run('python3', ['client.py', 'count 100'], { QUARTERDECK_URL: `http://${way.host}` })

  expect(way.breaks()).toBe(1)
  expect(said.split('\n')[0]).toBe(`${Array.from({ length: 100 }, (_, i) => i + 1).join(', ')}.`)
})

test.skipIf(!hasPython)('python-client says that a call waits for a person', async () => {
  const { start } = await copyExample('order-desk')
  const { run } = await copyExample('python-client')
  const { url } = await start()

  const refund = 'refund_order {"order": "1042", "amount": 80}'
  expect(await run('python3', ['client.py', refund], { QUARTERDECK_URL: url })).toMatch(
    /^I call the tool.*\nThe agent waits for a person: .*refund_order/,
  )
})
