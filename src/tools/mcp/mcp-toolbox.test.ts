import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { LogFields, Logger } from '../../domain/logger.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import type { ClientTool, ServerTool, Tool } from '../tool.ts'
import type { McpServer } from './mcp-server.ts'
import { createMcpToolbox } from './mcp-toolbox.ts'
import { PATIENCE_MS } from './start-queue.ts'

const rules = {
  description: 'Does something.',
  parameters: { type: 'object' },
  returns: null,
  effect: 'once',
  risk: 'high',
  timeoutMs: 1_000,
  retries: 0,
  approval: null,
  predictState: [],
  binding: 'test',
} as const satisfies Partial<Tool>

const tool = (name: string, answer = name, parameters: ServerTool['parameters'] = rules.parameters): ServerTool => ({
  ...rules,
  predictState: [],
  parameters,
  location: 'server',
  name,
  call: async () => ({ content: answer, isError: false }),
})

const clientTool = (name: string): ClientTool => ({ ...rules, predictState: [], location: 'client', name })

interface FakeServer extends McpServer {
  list: readonly ServerTool[] | Error
  closed: number
}

const server = (name: string, list: readonly ServerTool[] | Error): FakeServer => ({
  name,
  list,
  closed: 0,
  async start() {},
  trouble() {
    return this.list instanceof Error ? this.list.message : null
  },
  needsSignIn: () => false,
  async tools() {
    if (this.list instanceof Error) throw this.list
    return this.list
  },
  async close() {
    this.closed += 1
  },
})

function open(servers: FakeServer[], fixed: Tool[] = []) {
  const lines: [string, string, LogFields?][] = []
  const line = (level: string) => (message: string, fields?: LogFields) => {
    const { error, ...rest } = fields ?? {}
    lines.push([level, message, rest])
  }
  const log: Logger = {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: () => log,
  }
  const clock = createManualClock()
  const toolbox = createMcpToolbox(servers, new Map(fixed.map((one) => [one.name, one])), {
    log,
    clock,
    patienceMs: PATIENCE_MS,
  })
  const { signal } = new AbortController()
  const names = async () => [...(await toolbox.tools(signal)).keys()]
  return { toolbox, signal, lines, names, clock }
}

describe('tools of MCP servers', () => {
  test('come after the fixed tools, and the map stays the same while nothing has changed', async () => {
    const files = server('files', [tool('read'), tool('write')])
    const { toolbox, signal, names } = open([files, server('web', [tool('search')])], [clientTool('locate')])
    expect(await names()).toEqual(['locate', 'read', 'write', 'search'])
    const first = await toolbox.tools(signal)
    expect(await toolbox.tools(signal)).toBe(first)
    files.list = [tool('read')]
    expect(await names()).toEqual(['locate', 'read', 'search'])
  })

  test('that share a name get the name of their server as a prefix', async () => {
    const { toolbox, signal } = open(
      [server('a', [tool('search', 'of a'), tool('locate', 'of a')]), server('my-b', [tool('search', 'of b')])],
      [clientTool('locate')],
    )
    const tools = await toolbox.tools(signal)
    expect([...tools].map(([name, one]) => [name, one.name, one.location])).toEqual([
      ['locate', 'locate', 'client'],
      ['a_search', 'a_search', 'server'],
      ['a_locate', 'a_locate', 'server'],
      ['my_b_search', 'my_b_search', 'server'],
    ])
  })

  test('keep their names while the server that they clash with is away', async () => {
    const a = server('a', [tool('search')])
    const { names } = open([a, server('b', [tool('search')])])
    expect(await names()).toEqual(['a_search', 'b_search'])
    a.list = new ServerError('tool_failed', 'away')
    expect(await names()).toEqual(['b_search'])
  })

  test('whose patterns cannot be enforced are still offered, with one warning that names them', async () => {
    const flags = { type: 'object', properties: { a: { type: 'string', pattern: '(?i)^abc$' } } }
    const { names, lines } = open([server('go', [tool('find', 'found', flags)])])
    const warning = {
      mcp_server: 'go',
      tool: 'find',
      warnings: [
        'the pattern "(?i)^abc$" at /properties/a/pattern is not a JavaScript regular expression and is not enforced',
      ],
    }
    expect(await names()).toEqual(['find'])
    expect(await names()).toEqual(['find'])
    expect(lines).toEqual([['warn', 'The schema of a tool of an MCP server is not enforced in full.', warning]])
  })

  test('of a hostile server have a budget, and do not use up the budget of other servers', async () => {
    const patterns = (from: number) => ({
      type: 'object',
      patternProperties: Object.fromEntries(
        Array.from({ length: 2_000 }, (_, i) => [`(?:a{70}){70}${from + i}`, true]),
      ),
    })
    const large = { type: 'object', description: 'x'.repeat(90_000) }
    const hostile = [
      ...Array.from({ length: 5 }, (_, i) => tool(`p${i}`, '', patterns(i * 2_000))),
      ...Array.from({ length: 15 }, (_, i) => tool(`l${i}`, '', large)),
      tool('small'),
    ]
    const { names, lines } = open([server('hostile', hostile), server('honest', [tool('large', '', large)])])
    const before = process.threadCpuUsage()
    const taken = await names()
    expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000)
    expect(taken.filter((name) => name.startsWith('p'))).toHaveLength(5)
    const left = lines.filter(([, message]) => message === 'A tool of an MCP server is left out.')
    expect(left.length).toBeGreaterThan(2)
    expect(left.every(([, , fields]) => fields?.mcp_server === 'hostile')).toBe(true)
    expect(taken).toEqual(expect.arrayContaining(['small', 'large']))
  })

  test('that still share a name are left out, with one warning that says what to do', async () => {
    const { names, lines } = open([server('a', [tool('x'), tool('a_x')]), server('b', [tool('x')])])
    const left = [
      'warn',
      'A tool of an MCP server is left out.',
      {
        mcp_server: 'a',
        tool: 'x',
        reason: 'x and a_x are both names of other tools. Set a prefix for the server.',
      },
    ]
    expect(await names()).toEqual(['a_x', 'b_x'])
    expect(await names()).toEqual(['a_x', 'b_x'])
    expect(lines).toEqual([left])
  })

  test('whose schema is broken are left out, and the others stay', async () => {
    const { names, lines } = open([server('a', [tool('bad', '', { type: 'objekt' }), tool('good')])])
    expect(await names()).toEqual(['good'])
    expect(lines).toMatchObject([
      [
        'warn',
        'A tool of an MCP server is left out.',
        { mcp_server: 'a', tool: 'bad', reason: expect.stringContaining('/type: expected one of') },
      ],
    ])
  })
})

describe('a server that cannot be reached', () => {
  test('is left out with one warning, and its tools come back with it', async () => {
    const a = server('a', new ServerError('tool_failed', 'It did not start: check the command.'))
    const { names, lines } = open([a, server('b', [tool('search')])])
    expect([await names(), await names(), await names()]).toEqual([['search'], ['search'], ['search']])
    expect(lines).toEqual([
      [
        'warn',
        'The tools of an MCP server are left out.',
        { mcp_server: 'a', reason: 'It did not start: check the command.' },
      ],
    ])
    a.list = [tool('read')]
    expect(await names()).toEqual(['read', 'search'])
    a.list = new Error('secret internals')
    expect(await names()).toEqual(['search'])
    expect(lines.slice(1)).toEqual([
      ['info', 'The tools of an MCP server are there again.', { mcp_server: 'a' }],
      ['warn', 'The tools of an MCP server are left out.', { mcp_server: 'a', reason: 'An internal error.' }],
    ])
  })

  test('because the run was stopped causes no warning', async () => {
    const stop = new AbortController()
    const { toolbox, lines } = open([server('a', new Error('aborted'))])
    stop.abort(new Error('stopped'))
    await expect(toolbox.tools(stop.signal)).rejects.toThrow('stopped')
    expect(lines).toEqual([])
  })
})

describe('servers that are starting', () => {
  test('are waited for once, for at most 5 s, by the first caller', async () => {
    const slow: FakeServer = { ...server('slow', new Error('still starting')), start: () => new Promise(() => {}) }
    const { names, clock } = open([slow, server('b', [tool('search')])])
    const asked = names()
    let answered = false
    void asked.then(() => {
      answered = true
    })
    await clock.advance(4_999)
    expect(answered).toBe(false)
    await clock.advance(1)
    expect(await asked).toEqual(['search'])
    expect(await names()).toEqual(['search'])
  })

  test('in the background are logged when they fail, before anybody asks', async () => {
    const { toolbox, lines, clock } = open([server('a', new ServerError('tool_failed', 'no command'))])
    toolbox.start()
    await clock.advance(0)
    expect(lines).toEqual([
      ['warn', 'The tools of an MCP server are left out.', { mcp_server: 'a', reason: 'no command' }],
    ])
  })

  test('are listed with the tools that they offered last', async () => {
    const a = server('a', [tool('search'), tool('read')])
    const { toolbox, names } = open([a, server('b', [tool('search')])])
    await names()
    a.list = new ServerError('tool_failed', 'It is away.')
    await names()
    expect(toolbox.servers()).toEqual([
      { name: 'a', trouble: 'It is away.', tools: ['a_search', 'read'] },
      { name: 'b', trouble: null, tools: ['b_search'] },
    ])
  })
})

test('closing closes every server, also when one of them fails to close', async () => {
  const servers = [server('a', []), server('b', new Error('away'))]
  const stubborn: FakeServer = { ...server('c', []), close: () => Promise.reject(new Error('no')) }
  const { toolbox, lines } = open([stubborn, ...servers])
  await toolbox.close()
  expect(servers.map((one) => one.closed)).toEqual([1, 1])
  expect(lines).toEqual([['warn', 'An MCP server could not be closed.', { mcp_server: 'c' }]])
})
