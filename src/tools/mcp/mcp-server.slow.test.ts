// Servers that are in common use.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { McpServerSettings } from '../../domain/agent/tool-settings.ts'
import { type Clock, createSystemClock } from '../../domain/clock.ts'
import { freePort } from '../../http/testing/free-port.ts'
import { openServer, packageScript, script } from './testing/open-server.ts'

const everything = packageScript('@modelcontextprotocol/server-everything')
const filesystem = packageScript('@modelcontextprotocol/server-filesystem')

/** Fast progress reports are partly left out. On this clock a second passes at every look, so no report is fast. */
function leapingClock(): Clock {
  let time = 0
  return {
    ...createSystemClock(),
    mono: () => {
      time += 1_000
      return time
    },
  }
}

describe('the everything server over stdio', () => {
  const connection = {
    kind: 'stdio' as const,
    command: process.execPath,
    args: [everything, 'stdio'],
    env: { GIVEN: 'by name' },
    directory: import.meta.dirname,
  }

  test('lists its tools under safe names, calls them, and shows what they give back', async () => {
    await using open = openServer({ name: 'everything', connection, prefix: 'e_' }, { clock: leapingClock() })
    const tools = await open.tools()
    const { call: _call, ...sum } = await open.tool('e_get_sum')
    const steps: unknown[] = []

    expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(['e_echo', 'e_get_sum', 'e_get_tiny_image']))
    expect(sum?.action?.({})).toMatch(/^calls get-sum of the MCP server \S+: \S*node .*$/)
    expect(sum).toEqual({
      location: 'server',
      app: expect.objectContaining({ tool: 'get-sum', resourceUri: null }),
      action: expect.any(Function),
      binding: expect.any(String),
      name: 'e_get_sum',
      description: 'Returns the sum of two numbers',
      parameters: {
        type: 'object',
        properties: {
          a: { type: 'number', description: 'First number' },
          b: { type: 'number', description: 'Second number' },
        },
        required: ['a', 'b'],
      },
      returns: null,
      effect: 'once',
      risk: 'high',
      timeoutMs: 30_000,
      retries: 0,
      approval: null,
      predictState: [],
      roots: [connection.directory],
    })
    expect(await open.call('e_echo', { message: 'hello' })).toEqual({ content: 'Echo: hello', isError: false })
    expect(await open.call('e_get_sum', { a: 2, b: 3 })).toEqual({
      content: 'The sum of 2 and 3 is 5.',
      isError: false,
    })
    expect(await open.call('e_get_tiny_image')).toEqual({
      content: "Here's the image you requested:\n[image: image/png, 4.0 kB]\nThe image above is the MCP logo.",
      isError: false,
    })
    expect(await open.call('e_get_structured_content', { location: 'Chicago' })).toEqual({
      content: '{"temperature":36,"conditions":"Light rain / drizzle","humidity":82}',
      isError: false,
    })
    expect((await open.tool('e_get_structured_content')).returns).toMatchObject({
      type: 'object',
      required: ['temperature', 'conditions', 'humidity'],
    })
    expect(
      await open.call(
        'e_trigger_long_running_operation',
        { duration: 0.3, steps: 3 },
        { progress: (...args) => void steps.push(args) },
      ),
    ).toEqual({ content: 'Long running operation completed. Duration: 0.3 seconds, Steps: 3.', isError: false })
    expect(steps).toEqual([
      [1, 3, undefined],
      [2, 3, undefined],
      [3, 3, undefined],
    ])
    expect(await open.call('e_get_sum', { a: 'two' })).toMatchObject({ isError: true })
  })

  test('sees only the harmless part of our environment, and its hints count if they are trusted', async () => {
    await using open = openServer({ connection, trustHints: true, tools: { 'get-env': { risk: 'critical' } } })
    const rules = (await open.tools()).map(({ name, effect, risk }) => [name, effect, risk])
    expect(rules).toContainEqual(['echo', 'read', 'low'])
    expect(rules).toContainEqual(['get_env', 'read', 'critical'])
    const seen = JSON.parse((await open.call('get_env')).content)

    expect(seen).toMatchObject({ PATH: process.env.PATH, GIVEN: 'by name' })
    const kept = /^(?:QUARTERDECK_CHILD|PATH|HOME|LANG|LC_[A-Z]+|TMPDIR|USER|SHELL|TERM|TZ|GIVEN)$/
    expect(Object.keys(seen).filter((name) => !kept.test(name))).toEqual([])
  })

  test('offers its resources and prompts as tools if that is configured', async () => {
    await using open = openServer({ name: 'every-thing', connection, resources: true, prompts: true, allow: ['echo'] })

    expect((await open.tools()).map(({ name, effect, risk }) => [name, effect, risk])).toEqual([
      ['echo', 'once', 'high'],
      ['every_thing_list_resources', 'read', 'low'],
      ['every_thing_read_resource', 'read', 'low'],
      ['every_thing_list_prompts', 'read', 'low'],
      ['every_thing_get_prompt', 'read', 'low'],
    ])
    const resources = (await open.call('every_thing_list_resources')).content
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(resources).toContainEqual(
      expect.objectContaining({ uriTemplate: 'demo://resource/dynamic/text/{resourceId}' }),
    )
    const read = await open.call('every_thing_read_resource', { uri: 'demo://resource/dynamic/text/1' })
    expect(read).toEqual({
      content: expect.stringMatching(/^Resource 1: This is a plaintext resource/),
      isError: false,
    })
    expect(await open.call('every_thing_read_resource', { uri: 'demo://none' })).toEqual({
      content: expect.stringContaining('demo://none'),
      isError: true,
    })
    const prompts = (await open.call('every_thing_list_prompts')).content.split('\n').map((line) => JSON.parse(line))
    expect(prompts).toContainEqual(expect.objectContaining({ name: 'args-prompt' }))
    expect(
      await open.call('every_thing_get_prompt', { name: 'args-prompt', arguments: { city: 'Kyiv', state: 'UA' } }),
    ).toEqual({ content: "user: What's weather in Kyiv, UA?", isError: false })
  })
})

describe('the everything server over Streamable HTTP', () => {
  let port: number
  let stop: () => Promise<void>
  beforeAll(async () => {
    port = await freePort()
    stop = await serveEverything(port)
  })
  afterAll(() => stop())

  const at = (): Pick<McpServerSettings, 'connection'> => ({
    connection: { kind: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: { 'x-sample': 'one' } },
  })

  test('lists and calls its tools and receives their progress', async () => {
    await using open = openServer(at(), { clock: leapingClock() })
    const steps: unknown[] = []

    expect(await open.call('get_sum', { a: 2, b: 3 })).toEqual({ content: 'The sum of 2 and 3 is 5.', isError: false })
    expect(
      await open.call(
        'trigger_long_running_operation',
        { duration: 0.2, steps: 2 },
        { progress: (...args) => void steps.push(args) },
      ),
    ).toMatchObject({ isError: false })
    expect(steps).toEqual([
      [1, 2, undefined],
      [2, 2, undefined],
    ])
  })

  test('sends the configured headers, and reconnects to a restarted server', async () => {
    const sent: (string | null)[] = []
    const watched: typeof fetch = (url, init) => {
      sent.push(new Headers(init?.headers).get('x-sample'))
      return fetch(url, init)
    }
    await using open = openServer(at(), { fetch: watched })
    expect(await open.call('echo', { message: 'one' })).toEqual({ content: 'Echo: one', isError: false })
    expect(new Set(sent)).toEqual(new Set(['one']))

    await stop()
    await expect(open.call('echo', { message: 'two' })).rejects.toMatchObject({
      code: 'tool_failed',
      message: 'The MCP server "sample" cannot be reached (ECONNREFUSED). The call did not take effect.',
    })
    stop = await serveEverything(port)
    await vi.waitFor(() => expect(open.server.trouble()).toBe(null), { timeout: 60_000 })
    // This server answers 400 to an unknown session, where others answer 404.
    expect(await open.call('echo', { message: 'three' })).toEqual({ content: 'Echo: three', isError: false })
  })
})

describe('the filesystem server', () => {
  test('offers what is allowed and not denied, and works in its directory', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-mcp-'))
    await writeFile(join(folder, 'note.txt'), 'remember the milk')
    try {
      await using open = openServer({
        ...script(filesystem, folder),
        allow: ['read_*', 'list_directory', 'no_such_tool'],
        deny: ['read_m*'],
      })

      expect((await open.tools()).map((tool) => tool.name).sort()).toEqual([
        'list_directory',
        'read_file',
        'read_text_file',
      ])
      expect(await open.call('read_text_file', { path: join(folder, 'note.txt') })).toEqual({
        content: 'remember the milk',
        isError: false,
      })
      expect(await open.call('read_text_file', { path: '/etc/passwd' })).toEqual({
        content: expect.stringContaining('Access denied'),
        isError: true,
      })
      expect(open.logged.filter(([level]) => level === 'warn')).toEqual([
        ['warn', 'The configuration names a tool that the MCP server does not offer.', { tool: 'no_such_tool' }],
      ])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

async function serveEverything(port: number): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [everything, 'streamableHttp'], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  for await (const line of child.stderr) if (String(line).includes('listening')) break
  return async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}
