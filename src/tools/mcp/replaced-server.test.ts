import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { never, toolCall } from '../testing/tool-call.ts'
import { openServer, script } from './testing/open-server.ts'

/** Reads its version from a file. Its tool `end` ends it, and `act` returns the version. */
const SERVER = `
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const version = readFileSync(process.argv[2], 'utf8')
const tool = (name) => ({ name, description: 'Does something here.', inputSchema: { type: 'object' } })
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  if (params?.name === 'end') process.exit(0)
  const result = method === 'initialize'
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version } }
    : method === 'tools/list' ? { tools: [tool('act'), tool('end')] } : { content: [{ type: 'text', text: 'version ' + version }] }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
}
`

test('after a restart a tool is called only if the server still offers the same tool', {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [file, version] = [join(folder, 'server.mjs'), join(folder, 'version')]
  writeFileSync(file, SERVER)
  writeFileSync(version, '1')
  await using open = openServer(script(file, version))
  const act = await open.tool('act')
  const end = () => open.call('end').catch(() => null)

  /** The result of the call once the server is back. */
  const again = () =>
    vi.waitFor(async () => {
      const given = await act.call(toolCall({}), never).then(
        ({ content }) => content,
        ({ message }: Error) => message,
      )
      expect(given).not.toMatch(/ is gone|still starting/)
      return given
    }, 60_000)

  await end()
  expect(await again()).toBe('version 1')

  writeFileSync(version, '2')
  await end()
  expect(await again()).toContain('has changed its tool act, so it was not called.')
  const renewed = await open.tool('act')
  expect(renewed.binding).not.toBe(act.binding)
  expect(await renewed.call(toolCall({}), never)).toMatchObject({ content: 'version 2' })
})
