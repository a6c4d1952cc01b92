// A process that listens when told to, reports whether it could, and closes the port when told again.

import { createServer } from 'node:http'
import { type Listening, listen } from '../../../src/http/server/listen.ts'

let letGo: (() => void) | null = null

process.on('message', async (port: number | 'let go') => {
  if (port === 'let go') {
    letGo?.()
    letGo = null
    process.send?.('gone')
    return
  }
  const server = createServer()
  const got: Listening | null = await listen(server, { hosts: ['127.0.0.1'], port }, () => {}).catch(() => null)
  if (got !== null) {
    letGo = () => {
      got.close()
      server.close()
    }
  }
  process.send?.(got === null ? 'lost' : 'won')
})
process.send?.('up')
