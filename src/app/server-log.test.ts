import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../cli/testing/temp-folder.ts'
import { createTestIo } from '../cli/testing/test-io.ts'
import type { SettingFlags } from '../config/settings/settings.ts'
import { loadConfig } from './load-config.ts'
import { createServerLog } from './server-log.ts'

const MODEL =
  '{ provider: openai, name: x, api_key: none, base_url: "https://example.com/v1?key=in-the-address", proxy: "http://ada:of-the-proxy@127.0.0.1:1" }'
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
  test('masks secrets in the configuration of tools, and nothing else', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'agent.yaml'), `name: clerk\nmodel: ${MODEL}\ninstructions: You help.\ntools:${TOOLS}`)
    const io = createTestIo({ cwd })
    const log = createServerLog(loadConfig({ files: [], flags: { 'log.format': 'json' } }, io), io)

    log.info('said', {
      secret_words: 'header-credential environment-value in-the-query remote-header-value in-the-address of-the-proxy',
      other_words: 'application/json info not-secret',
    })

    expect(JSON.parse(io.complained())).toMatchObject({
      secret_words: Array(6).fill('[masked]').join(' '),
      other_words: 'application/json info not-secret',
    })
  })

  test('masks the password of the database and the keys of the receiver of telemetry', async () => {
    const cwd = await tempFolder()
    const env = {
      QUARTERDECK_STORE: 'postgres://ada:pass%2Fof-the-database@127.0.0.1/quarterdeck',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example.com',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Custom%20header-credential',
    }
    const io = createTestIo({ cwd, env })
    const log = createServerLog(loadConfig({ files: [], flags: { 'log.format': 'json' } }, io), io)

    log.info('said', { secret_words: 'pass%2Fof-the-database pass/of-the-database header-credential' })

    expect(JSON.parse(io.complained())).toMatchObject({ secret_words: Array(3).fill('[masked]').join(' ') })
  })

  test('is text at a terminal, with ids on demand, and JSON everywhere else', async () => {
    const cwd = await tempFolder()
    const written = (terminal: boolean, flags: SettingFlags = {}, verbose = false) => {
      const io = createTestIo({ cwd, terminal, env: { NO_COLOR: '1' } })
      const log = createServerLog(loadConfig({ files: [], flags }, io), io, { verbose })
      const ids = { correlation_id: 'c-1', session_id: 's-1', run_id: 'r-1' }
      log.with(ids).info('run', { agent: 'clerk', outcome: 'completed', latency_ms: 400 })
      return io.complained()
    }
    const all = /^[\d:.]{12} INFO {2}run correlation_id=c-1 session_id=s-1 run_id=r-1 agent=clerk /
    expect(written(true)).toMatch(/^[\d:]{8} {2}clerk answered · 0\.4 s\n$/)
    expect(written(true, {}, true)).toMatch(all)
    expect(written(true, { 'log.level': 'debug' })).toMatch(all)
    expect(written(false, { 'log.format': 'text' })).toMatch(all)
    const line = { message: 'run', correlation_id: 'c-1', session_id: 's-1', run_id: 'r-1' }
    expect(JSON.parse(written(false))).toMatchObject(line)
    expect(JSON.parse(written(true, { 'log.format': 'json' }))).toMatchObject(line)
  })
})
