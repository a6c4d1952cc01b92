// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
// One tool for each thing that an approval is bound to, and one for each thing that it is not bound to. `before` and `after` differ
// only in that. Each call writes a line that names the tool and how it worked.

import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

export interface BoundTools {
  /** Names of the tools that do something else in `after`. */
  readonly changing: readonly string[]
  /** Names of the tools of which only the keys differ. */
  readonly keeping: readonly string[]
  /** Writes the files of `before` or `after`, and returns their environment. */
  write(directory: string, time: Time): Promise<Record<string, string>>
  /** What has been done so far, as `tool: how`, sorted by name. */
  done(): string[]
  forget(): void
  close(): Promise<void>
}

export type Time = 'before' | 'after'

type Describe = (at: (before: unknown, after?: unknown) => unknown) => Record<string, unknown>

export async function openBoundTools(): Promise<BoundTools> {
  const lines: string[] = []
  const [one, two] = await Promise.all([openService('one', lines), openService('two', lines)])

  const http = (name: string, more: Record<string, unknown>) => ({
    type: 'http',
    name,
    description: 'Does something at a service.',
    method: 'POST',
    url: `${one.url}/${name}`,
    allow_private: true,
    ...more,
  })
  const code = (name: string, more: Record<string, unknown> = {}) => ({
    type: 'function',
    name,
    description: 'Does something in code.',
    file: `${name}.ts`,
    parameters: {},
    ...more,
  })
  const server = (name: string, more: Record<string, unknown> = {}) => ({
    type: 'mcp',
    name,
    command: process.execPath,
    args: ['mcp.mjs', `${name}.json`],
    ...more,
  })

  const changing: Record<string, Describe> = {
    http_host: (at) => http('http_host', { url: `${at(one.url, two.url)}/http_host` }),
    http_host_variable: () => http('http_host_variable', { url: '${SERVICE}/http_host_variable' }),
    http_host_secret: () => http('http_host_secret', { url: '${SERVICE_KEY}/http_host_secret' }),
    http_path: (at) => http('http_path', { url: `${one.url}/http_path/${at('a', 'b')}` }),
    http_method: (at) => http('http_method', { method: at('POST', 'PUT') }),
    http_header: (at) => http('http_header', { headers: { 'X-Tenant': at('a', 'b') } }),
    http_variable: (at) =>
      http('http_variable', { headers: { Authorization: at('Bearer ${KEY_A}', 'Bearer ${KEY_B}') } }),
    http_body: (at) => http('http_body', { body: { to: at('a', 'b') } }),
    fn_file: (at) => code('fn_file', { file: at('fn_file.ts', 'fn_other.ts') }),
    fn_export: (at) => code('fn_export', { export: at('fn_export', 'other') }),
    fn_code: () => code('fn_code'),
    fn_import: () => code('fn_import'),
    fn_json: () => code('fn_json'),
    fn_later: () => code('fn_later'),
    mcp_command: (at) => server('mcp_command', { command: at(process.execPath, './other-node') }),
    mcp_args: (at) => server('mcp_args', { args: ['mcp.mjs', 'mcp_args.json', at('a', 'b')] }),
    mcp_cwd: (at) => server('mcp_cwd', { args: ['../mcp.mjs', '../mcp_cwd.json'], cwd: at('a', 'b') }),
    mcp_env: (at) => server('mcp_env', { env: at({ A: '1' }, { B: '1' }) }),
    mcp_version: () => server('mcp_version'),
    mcp_name: () => server('mcp_name'),
    mcp_definition: () => server('mcp_definition'),
    mcp_url: (at) => ({ type: 'mcp', name: 'mcp_url', url: `${one.url}/mcp/${at('a', 'b')}` }),
  }
  const keeping: Record<string, Describe> = {
    http_key: () =>
      http('http_key', {
        url: `${one.url}/http_key?key=\${KEY_A}`,
        headers: { Authorization: 'Bearer ${KEY_A}' },
        body: { token: '${KEY_A}' },
      }),
    http_written_key: (at) => http('http_written_key', { headers: { 'X-Api-Key': at('old', 'new') } }),
    mcp_key: () => server('mcp_key', { env: { TOKEN: '${KEY_A}' }, args: ['mcp.mjs', 'mcp_key.json', '${KEY_A}'] }),
  }
  const names = [...Object.keys(changing), ...Object.keys(keeping)]

  return {
    changing: Object.keys(changing),
    keeping: Object.keys(keeping),

    async write(directory, time) {
      const at = (before: unknown, after: unknown = before): unknown => (time === 'before' ? before : after)
      const put = (name: string, text: string) => writeFile(join(directory, name), text)
      const tools = Object.values({ ...changing, ...keeping }).map((tool) => tool(at))
      await put(
        'agent.yaml',
        JSON.stringify({
          name: 'binder',
          model: { provider: 'scripted', name: 'script', script: 'script.json' },
          instructions: { inline: 'You are a test.' },
          tools: tools.map((tool) => ({ risk: 'high', ...tool })),
        }),
      )
      const calls = names.map((name) => ({ tool_call: { name, arguments: {} } }))
      const answers = [{ when: 'Do everything.', parts: calls }, { parts: [{ text: 'That is all.' }] }]
      await put('script.json', JSON.stringify({ loop: true, answers }))

      const tell = `const tell = (how: string) => fetch('${one.url}/told', { method: 'POST', body: how }).then(() => how)\n`
      const fn = (name: string, how: string, more = '') =>
        put(`${name}.ts`, `${more}${tell}export const ${name} = () => tell(\`${name}: ${how}\`)\n`)
      await fn('fn_file', 'a')
      await put('fn_other.ts', `${tell}export const fn_file = () => tell('fn_file: b')\n`)
      await fn('fn_export', 'a', `${tell.replaceAll('tell', 'say')}export const other = () => say('fn_export: b')\n`)
      await fn('fn_code', String(at('a', 'b')))
      await fn('fn_import', '${inner}', "import { inner } from './inner.ts'\n")
      await put('inner.ts', "export { deep as inner } from './deep.ts'\n")
      await put('deep.ts', `export const deep = '${at('a', 'b')}'\n`)
      await fn('fn_json', '${data.how}', "import data from './data.json' with { type: 'json' }\n")
      await put('data.json', JSON.stringify({ how: at('a', 'b') }))
      await put(
        'fn_later.ts',
        `${tell}export const fn_later = async () => tell(\`fn_later: \${(await import('./later.ts')).later}\`)\n`,
      )
      await put('later.ts', `export const later = '${at('a', 'b')}'\n`)

      await put('mcp.mjs', MCP_SERVER.replace('TOLD', `${one.url}/told`))
      for (const folder of ['a', 'b']) await mkdir(join(directory, folder), { recursive: true })
      if (time === 'before') await symlink(process.execPath, join(directory, 'other-node'))
      for (const name of names.filter((one) => one.startsWith('mcp_'))) {
        const identity = {
          name: name === 'mcp_name' ? at('a', 'b') : 'server',
          version: name === 'mcp_version' ? at('1', '2') : '1',
          tool: {
            name,
            description: 'Does something at a server.',
            inputSchema: { type: 'object', properties: {} },
            annotations: { title: name === 'mcp_definition' ? at('a', 'b') : 'x' },
          },
        }
        await put(`${name}.json`, JSON.stringify(identity))
      }
      return {
        SERVICE: String(at(one.url, two.url)),
        SERVICE_KEY: String(at(one.url, two.url)),
        KEY_A: String(at('old', 'new')),
        KEY_B: 'other',
      }
    },

    done: () => [...lines].sort(),
    forget: () => void lines.splice(0),
    close: async () => void (await Promise.all([one.close(), two.close()])),
  }
}

/** Answers every request, also as an MCP server, and records it. */
async function openService(name: string, lines: string[]) {
  const server = createServer(async (request, response) => {
    const body = await textOf(request)
    const url = new URL(request.url ?? '/', 'http://x')
    const tool = url.pathname.split('/')[1] ?? ''
    if (tool === 'told') lines.push(body)
    else if (tool !== 'mcp') {
      const { 'x-tenant': tenant = '', authorization = '' } = request.headers
      lines.push(`${tool}: ${[name, request.method, url.pathname, tenant, authorization, body].join(' ')}`)
    }
    if (tool === 'mcp' && request.method !== 'POST') return void response.writeHead(405).end()
    const answer = tool === 'mcp' ? mcpAnswer(JSON.parse(body), url.pathname, lines) : { ok: true }
    if (answer === null) return void response.writeHead(202).end()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => closed(server) }
}

function mcpAnswer(
  { id, method, params }: { id?: number; method: string; params?: { protocolVersion?: string } },
  path: string,
  lines: string[],
): object | null {
  if (id === undefined) return null
  const result = () => {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'far', version: '1' },
        }
      case 'tools/list':
        return {
          tools: [{ name: 'mcp_url', description: 'Does something far away.', inputSchema: { type: 'object' } }],
        }
      default:
        lines.push(`mcp_url: ${path}`)
        return { content: [{ type: 'text', text: path }] }
    }
  }
  return { jsonrpc: '2.0', id, result: result() }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

const closed = (server: Server): Promise<void> => {
  server.closeAllConnections()
  return new Promise((resolve) => void server.close(() => resolve()))
}

/** An MCP server over stdio, written by hand. A file holds its identity, so that it can change under the same command. */
const MCP_SERVER = `
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
const [identity, ...more] = process.argv.slice(2)
const { name, version, tool } = JSON.parse(readFileSync(identity, 'utf8'))
const how = [basename(process.argv0), basename(process.cwd()), name, version, tool.annotations.title, process.env.A ?? '', process.env.B ?? '']
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  const answer = async () => {
    if (method === 'initialize') return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version } }
    if (method === 'tools/list') return { tools: [tool] }
    const said = tool.name + ': ' + [...how, ...more].join(' ')
    await fetch('TOLD', { method: 'POST', body: said })
    return { content: [{ type: 'text', text: said }] }
  }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: await answer() }) + '\\n')
}
`
