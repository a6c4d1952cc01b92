import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createQuarterdeck } from '../../src/app/create-quarterdeck.ts'
import type { Logger } from '../../src/domain/logger.ts'

/** A server with one agent in this folder. `note` gets the lines of its log. */
export async function openPlainServer(folder: string, note: (line: string) => void, settings: NodeJS.ProcessEnv = {}) {
  writeFileSync(
    join(folder, 'agent.yaml'),
    'name: bench\nmodel: { provider: demo, name: demo }\ninstructions: { inline: Be brief. }\n',
  )
  const log: Logger = {
    debug() {},
    info: (message, fields) => note(JSON.stringify({ message, ...fields })),
    warn: (message, fields) => note(JSON.stringify({ message, ...fields })),
    error: (message, fields) => note(JSON.stringify({ message, ...fields })),
    with: (bound) => ({
      ...log,
      info: (message, fields) => log.info(message, { ...bound, ...fields }),
      with: (more) => log.with({ ...bound, ...more }),
    }),
  }
  const env = {
    QUARTERDECK_CONFIG_DIR: join(folder, 'config'),
    QUARTERDECK_DATA_DIR: join(folder, 'data'),
    ...settings,
  }
  const quarterdeck = createQuarterdeck({ agent: join(folder, 'agent.yaml'), env, log })
  const server = createServer((request, response) => void quarterdeck.handler(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await quarterdeck.close({ drainMs: 0 })
  })
  const { port } = server.address() as AddressInfo
  async function post(threadId: string, runId: string): Promise<string> {
    const messages = [{ id: `m${runId}`, role: 'user', content: 'Hello' }]
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ threadId, runId, state: {}, messages, tools: [], context: [], forwardedProps: {} }),
    })
    return await response.text()
  }
  return { post }
}
