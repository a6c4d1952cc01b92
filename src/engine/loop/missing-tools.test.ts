import { expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import type { ServerTool, Toolbox, ToolServer } from '../../tools/tool.ts'
import { openEngine, outline, testAgent, testTool } from '../testing/open-engine.ts'

const call = (name: string) => ({ parts: [{ tool_call: { name, arguments: {} } }] })
const done = { parts: [{ text: 'Done.' }] }
const results = (events: readonly RunEvent[]) => outline(events).filter((line) => line.startsWith('TOOL_CALL_RESULT'))

/** Tools of one server that comes and goes. */
function comingAndGoing(tools: readonly ServerTool[]): { toolbox: Toolbox; server: ToolServer } {
  const server: ToolServer = { name: 'files', trouble: null, tools: tools.map(({ name }) => name) }
  const there = new Map(tools.map((tool) => [tool.name, tool]))
  return {
    server,
    toolbox: {
      ...createStaticToolbox([]),
      tools: async () => (server.trouble === null ? there : new Map()),
      servers: () => [server],
    },
  }
}

const note =
  '[Note from the server: the MCP server "files" cannot be reached now, so its tools (read, write) are missing. ' +
  'Do without them, and say so where they are needed.]'

test('the model is told about a missing tool for as long as it is missing, and a call of it is refused with the reason', async () => {
  const asked: [told: string, tools: string[]][] = []
  const read = testTool({
    name: 'read',
    call: async () => {
      server.trouble = 'It did not answer within 5 s.'
      throw new ServerError('tool_failed', 'It went away.')
    },
  })
  const { toolbox, server } = comingAndGoing([
    read,
    testTool({ name: 'write', call: async () => ({ content: 'Written.', isError: false }) }),
  ])
  const engine = openEngine({
    toolbox,
    answers: [call('read'), call('read'), done],
    onRequest: ({ system, aside, tools }) => {
      asked.push([[system, aside].filter((part) => part !== '').join('\n\n'), tools.map(({ name }) => name)])
      if (asked.length === 3) server.trouble = null
    },
  })
  const run = await engine.start('go')

  expect(results(await engine.events(run))).toEqual([
    'TOOL_CALL_RESULT It went away.',
    'TOOL_CALL_RESULT The MCP server "files" cannot be reached now, so its tool read was not run. ' +
      'Try again later, or go on without it.',
  ])
  await engine.events(await engine.start('again'))
  const { instructions } = testAgent
  expect(asked.slice(0, 4)).toEqual([
    [instructions, ['read', 'write']],
    [`${instructions}\n\n${note}`, []],
    [`${instructions}\n\n${note}`, []],
    [instructions, ['read', 'write']],
  ])
  const stored = await engine.store.messages.page(run.session.id, 100)
  expect(JSON.stringify(stored)).not.toContain('Note from the server')
  await engine.close()
})
