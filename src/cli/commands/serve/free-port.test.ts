import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findFreePort, takenHost } from './free-port.ts'

async function takePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

describe('free ports', () => {
  test('a port that is listened on is not free', async () => {
    expect(await takenHost(['127.0.0.1'], await takePort())).toBe('127.0.0.1')
    expect(await takenHost(['127.0.0.2', '127.0.0.1'], await takePort())).toBe('127.0.0.1')
  })

  test('the one that is found lies behind the taken one and can be listened on', async () => {
    const taken = await takePort()
    // Nobody has the second address: it is kept for examples.
    const free = await findFreePort(['127.0.0.1', '2001:db8::1'], taken)

    expect(free).toBeGreaterThan(taken)
    expect(await takenHost(['127.0.0.1'], free ?? 0)).toBeNull()
  })

  test('there is none behind the last', async () => {
    expect(await findFreePort(['127.0.0.1'], 65_535)).toBeNull()
  })
})
