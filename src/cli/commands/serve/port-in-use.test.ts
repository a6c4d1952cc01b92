import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import { isPortInUse, portInUse } from './port-in-use.ts'

async function takePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

describe('a port in use', () => {
  test('is recognised under an error of ours', () => {
    const cause = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' })

    expect(isPortInUse(cause)).toBe(true)
    expect(isPortInUse(new ServerError('config_invalid', 'Port 8000 is in use.', { cause }))).toBe(true)
    expect(isPortInUse(new ServerError('config_invalid', 'No such address.'))).toBe(false)
    expect(isPortInUse('EADDRINUSE')).toBe(false)
  })

  test('names who has it and a free one to take', async () => {
    const port = await takePort()

    const error = await portInUse(['127.0.0.1'], port, async () => ({ pid: 7, command: 'node other.js' }))

    expect([error.exitCode, error.message]).toEqual([
      69,
      `Port ${port} on 127.0.0.1 is in use by node other.js (pid 7).`,
    ])
    expect(error.mend).toEqual([expect.stringMatching(/^This one is free: --port \d+$/)])
  })

  test('is content when the holder cannot be seen or no port is left', async () => {
    const error = await portInUse(['127.0.0.1'], 65_535, async () => null)

    expect([error.message, error.mend]).toEqual([
      'Port 65535 on 127.0.0.1 is in use by another process.',
      ['Let the system choose one: --port 0'],
    ])
  })
})
