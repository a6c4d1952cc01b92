// kill -9 while a large body arrives: what was spooled to disk disappears with the process.

import { readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openRaw } from './support/raw-socket.ts'
import { openYard } from './support/start-server.ts'
import { until } from './support/until.ts'

test.skipIf(process.platform !== 'linux')('a large body leaves nothing on disk when the server is killed', async () => {
  const yard = await openYard(onTestFinished)
  const server = await yard.start()
  const spool = join(yard.dataDir, 'spool')
  const head = `POST /sessions/s/messages HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/json\r\nContent-Length: 50000000\r\n\r\n`
  const client = await openRaw(server.port, `${head}{"message":"Hi","files":[{"content":"`)
  client.socket.write('A'.repeat(5_000_000))

  /** Bytes in files of that folder that the server has open, named or not. */
  async function held(): Promise<number> {
    const folder = `/proc/${server.pid}/fd`
    let bytes = 0
    for (const name of await readdir(folder)) {
      const path = await readlink(join(folder, name)).catch(() => '')
      if (path.startsWith(spool)) bytes += (await stat(join(folder, name))).size
    }
    return bytes
  }
  await until('some of the body lies on disk', async () => (await held()) > 1_000_000)
  expect(await readdir(spool)).toEqual([])

  await server.kill()
  client.socket.destroy()

  expect(await readdir(spool)).toEqual([])
})
