import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { ToolRules, ToolSettings } from '../domain/agent/tool-settings.ts'
import { createSystemClock } from '../domain/clock.ts'
import { type LogLine, recordingLogger } from '../domain/testing/recording-logger.ts'
import { createConnections } from '../outgoing/connections.ts'
import { openProxy } from '../outgoing/testing/open-proxy.ts'
import { createToolbox, type ToolboxDeps } from './create-toolbox.ts'
import { createStrayErrors } from './function/stray-errors.ts'
import { answerJson, openService } from './http/testing/open-service.ts'
import { createStartQueue } from './mcp/start-queue.ts'
import { mcpSettings } from './mcp/testing/mcp-settings.ts'
import { createProcessGroups } from './process/process-groups.ts'
import { never, toolCall } from './testing/tool-call.ts'
import type { Tool } from './tool.ts'

const directory = mkdtempSync(join(tmpdir(), 'quarterdeck-toolbox-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const file = (name: string, text: string): string => {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

const rules: ToolRules = { effect: 'read', risk: 'low', timeoutMs: 1_000, retries: 0, approval: null, predictState: [] }
const named = (name: string) => ({
  ...rules,
  name,
  description: 'Does something.',
  parameters: { type: 'object' },
  returns: null,
})

const planner: ToolboxDeps['agents'][number] = {
  name: 'planner',
  description: 'Makes plans.',
  instructions: 'Make plans.',
  model: {
    provider: 'demo',
    name: 'demo',
    contextWindow: 1_000,
    retries: 0,
    firstTokenTimeoutMs: 1_000,
    tokenTimeoutMs: 1_000,
  },
  approval: { default: { ask: 'never' }, policy: [], by: 'operator', expiresSeconds: 60 },
  responseFormat: null,
  tools: [],
}

function deps(change: Partial<ToolboxDeps> = {}): ToolboxDeps & { lines: LogLine[] } {
  const clock = createSystemClock()
  const lines: LogLine[] = []
  return {
    clock,
    log: recordingLogger(lines),
    lines,
    signIns: null,
    agents: [planner],
    complete: async (prompt) => ({ text: `answer to ${prompt}`, usage: [] }),
    processes: createProcessGroups({ clock, process }),
    environment: { PATH: process.env.PATH },
    version: '0',
    queue: createStartQueue(),
    patienceMs: 60_000,
    extra: [],
    reload: null,
    connections: createConnections(),
    proxyVariables: null,
    knowledge: null,
    strays: createStrayErrors(),
    ...change,
  }
}

const callOf = (tool: Tool | undefined, args: Record<string, unknown>) => {
  if (tool?.location !== 'server') throw new Error('not a tool of the server')
  return tool.call(toolCall(args), never)
}

const fake: ToolSettings = mcpSettings({
  name: 'fake',
  connection: {
    kind: 'stdio',
    command: process.execPath,
    args: [join(import.meta.dirname, 'mcp', 'testing', 'fake-server.ts')],
    env: {},
    directory,
  },
  allow: ['pid', 'change', 'added', 'wait'],
})

describe('a toolbox', () => {
  test('has tools of every kind, each as its settings say', async () => {
    const service = await openService((response, request) => answerJson(response, { asked: request.url }))
    const openapi = JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'x', version: '1' },
      paths: { '/users': { get: { operationId: 'listUsers', summary: 'Lists all the users.', responses: {} } } },
    })
    const lookUp: Tool = {
      ...named('look_up'),
      location: 'server',
      binding: 'look_up',
      call: async () => ({ content: 'code', isError: false }),
    }
    const toolbox = await createToolbox(
      [
        {
          ...named('add'),
          type: 'function',
          parameters: { type: 'object' },
          file: file('add.mjs', 'export const add = ({ a, b }) => a + b'),
          export: 'add',
        },
        {
          ...named('ping'),
          type: 'http',
          method: 'GET',
          url: `${service.url}/ping`,
          headers: {},
          body: null,
          allowPrivate: true,
        },
        {
          ...rules,
          type: 'openapi',
          written: [],
          name: 'users',
          file: file('api.json', openapi),
          baseUrl: service.url,
          headers: {},
          allow: null,
          deny: [],
          allowPrivate: true,
        },
        { ...rules, type: 'agent', name: 'ask_planner', description: null, agent: 'planner', handoff: false },
        {
          ...rules,
          type: 'agent',
          name: 'to_planner',
          description: 'Goes to the planner.',
          agent: 'planner',
          handoff: true,
        },
        { ...named('shout'), type: 'prompt', parameters: { properties: { text: {} } }, template: 'shout {text}' },
        { ...named('locate'), type: 'client' },
        fake,
      ],
      deps({ extra: [lookUp] }),
    )
    try {
      const tools = await toolbox.tools(never)
      expect([...tools].map(([name, tool]) => [name, tool.location])).toEqual([
        ['add', 'server'],
        ['ping', 'server'],
        ['listUsers', 'server'],
        ['ask_planner', 'agent'],
        ['to_planner', 'agent'],
        ['shout', 'server'],
        ['locate', 'client'],
        ['look_up', 'server'],
        ['pid', 'server'],
        ['change', 'server'],
        ['wait', 'server'],
      ])
      expect(await callOf(tools.get('add'), { a: 1, b: 2 })).toMatchObject({ content: '3', isError: false })
      expect(await callOf(tools.get('ping'), {})).toMatchObject({ content: '{"asked":"/ping"}', isError: false })
      expect(await callOf(tools.get('listUsers'), {})).toMatchObject({ content: '{"asked":"/users"}' })
      expect(await callOf(tools.get('shout'), { text: 'hi' })).toEqual({
        content: 'answer to shout hi',
        isError: false,
        usage: [],
      })
      expect(await callOf(tools.get('pid'), {})).toMatchObject({
        content: expect.stringMatching(/^\d+$/),
        isError: false,
      })
      expect(tools.get('ask_planner')).toMatchObject({
        description: 'Asks the agent planner. Makes plans.',
        agent: 'planner',
        handoff: false,
        parameters: { required: ['message'] },
      })
      expect(tools.get('to_planner')).toMatchObject({ description: 'Goes to the planner.', handoff: true })
      expect(tools.get('locate')).toEqual({
        ...named('locate'),
        location: 'client',
        binding: expect.any(String),
      })
    } finally {
      await toolbox.close()
      await service.close()
    }
  })

  test('returns the same tools until something changes', async () => {
    const toolbox = await createToolbox([fake], deps())
    try {
      const first = await toolbox.tools(never)
      expect(await toolbox.tools(never)).toBe(first)
      await callOf(first.get('change'), {})
      expect([...(await toolbox.tools(never)).keys()]).toEqual(['pid', 'change', 'wait', 'added'])
    } finally {
      await toolbox.close()
    }
    const still = await createToolbox([{ ...named('locate'), type: 'client' }], deps())
    expect(await still.tools(never)).toBe(await still.tools(never))
  })

  test('starts no server before the first use, and works without one that does not start', async () => {
    const given = deps()
    const toolbox = await createToolbox([mcpSettings({ name: 'gone' }), { ...named('locate'), type: 'client' }], given)
    expect(given.lines).toEqual([])
    expect([...(await toolbox.tools(never)).keys()]).toEqual(['locate'])
    expect([...(await toolbox.tools(never)).keys()]).toEqual(['locate'])
    expect(given.lines.filter((line) => line.level === 'warn')).toMatchObject([
      {
        message: 'The tools of an MCP server are left out.',
        fields: { mcp_server: 'gone', reason: expect.stringContaining('"gone"') },
      },
    ])
    await toolbox.close()
  })

  test.each<[string, ToolSettings[], Partial<ToolboxDeps>, string]>([
    [
      'two tools with one name',
      [
        { ...named('x'), type: 'client' },
        { ...named('x'), type: 'prompt', template: 'hi' },
      ],
      {},
      'Two tools have the name x: one of type client, one of type prompt. Give one of them another name.',
    ],
    [
      'a tool in code with the name of one in the file',
      [{ ...named('x'), type: 'client' }],
      { extra: [{ ...named('x'), binding: 'x', location: 'client' }] },
      'Two tools have the name x: one of type client, one given in code. Give one of them another name.',
    ],
    [
      'two servers with one name',
      [mcpSettings({ name: 's' }), mcpSettings({ name: 's' })],
      {},
      'Two MCP servers have the name s. Give one of them another name.',
    ],
    [
      'an agent that is not there',
      [{ ...rules, type: 'agent', name: 'ask', description: null, agent: 'nobody', handoff: false }],
      {},
      'Tool ask: there is no agent nobody. Load its file beside this one.',
    ],
    [
      'a broken schema',
      [{ ...named('x'), type: 'client', parameters: { type: 'objekt' } }],
      {},
      'Tool x, parameters: This JSON Schema cannot be used: /type: expected one of string, number, integer, boolean, object, array, null, found "objekt". Did you mean object?',
    ],
  ])('is refused with %s', async (_, settings, change, message) => {
    await expect(createToolbox(settings, deps(change))).rejects.toMatchObject({ code: 'config_invalid', message })
  })
})

test('an MCP server at a URL is reached through a proxy only if tools may use one', async () => {
  const service = await openService((response) => response.writeHead(404).end())
  const proxy = await openProxy(service.port)
  const connections = createConnections()
  const connection = { kind: 'http' as const, url: 'http://mcp.invalid/mcp', headers: {} }
  const variables = { HTTP_PROXY: `127.0.0.1:${proxy.port}` }
  try {
    for (const proxyVariables of [null, variables]) {
      const toolbox = await createToolbox(
        [mcpSettings({ name: 'far', connection })],
        deps({ connections, proxyVariables }),
      )
      expect((await toolbox.tools(never)).size).toBe(0)
      await toolbox.close()
      const asked = new Set(proxy.asked.map(({ line }) => line))
      expect(asked).toEqual(new Set(proxyVariables === null ? [] : ['POST http://mcp.invalid/mcp']))
    }
  } finally {
    connections.close()
    await proxy.close()
    await service.close()
  }
})
