import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from './load-config.ts'
import { createServerLog } from './server-log.ts'
import { tempFolder } from './testing/temp-folder.ts'
import { createTestIo } from './testing/test-io.ts'

const TOOLS = `
  - type: http
    name: page
    description: Reads a page of ours.
    effect: read
    method: GET
    url: https://example.com/
    headers: { Authorization: Custom header-credential, Accept: application/json }
  - type: mcp
    name: local
    command: local-server
    env: { KEY: environment-value, LEVEL: info }
  - type: mcp
    name: remote
    url: https://example.com/mcp?token=in-the-query&page=not-secret
    headers: { X-Key: remote-header-value }
`

describe('the server’s log', () => {
  test('masks what the configuration of tools holds, and leaves words that are no secret', async () => {
    const cwd = await tempFolder()
    await writeFile(
      join(cwd, 'agent.yaml'),
      `name: clerk\nmodel: { provider: demo }\ninstructions: You help.\ntools:${TOOLS}`,
    )
    const io = createTestIo({ cwd })
    const log = createServerLog(loadConfig({ files: [], flags: { 'log.format': 'json' } }, io), io)

    log.info('said', {
      secret_words: 'header-credential environment-value in-the-query remote-header-value',
      other_words: 'application/json info not-secret',
    })

    expect(JSON.parse(io.complained())).toMatchObject({
      secret_words: Array(4).fill('[masked]').join(' '),
      other_words: 'application/json info not-secret',
    })
  })
})
