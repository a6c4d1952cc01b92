// The docs are true: links work, examples load and run, and what they name exists.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { EventType } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { createApp, type OpenApp } from '../src/app/app.ts'
import { testAppOptions } from '../src/app/testing/test-app.ts'
import { fillRoutes } from '../src/cli/route-tables.ts'
import { checkAgent, loadAgent } from '../src/config/agent/load-agents.ts'
import { providers } from '../src/config/agent/providers.ts'
import { formatIssue } from '../src/config/config-error.ts'
import { resolveSettings } from '../src/config/settings/resolve-settings.ts'
import { settings } from '../src/config/settings/settings.ts'
import { createMemoryFiles } from '../src/config/testing/memory-files.ts'
import { type ErrorCode, errorCodes, ServerError } from '../src/domain/errors.ts'
import { hosts } from '../src/hosts/hosts.ts'
import { problemOf, problemShape } from '../src/http/problem.ts'
import type { Route } from '../src/http/route.ts'
import { createRouter } from '../src/http/server/router.ts'
import { readScript } from '../src/models/scripted/script.ts'
import { credentialNames, credentialVariable } from '../src/operators/credentials/credentials.ts'
import { webhookHeaders } from '../src/operators/webhook/create-webhook.ts'
import { agentErrorShape } from '../src/protocols/agent/error-shape.ts'
import { chatErrorShape } from '../src/protocols/chat/error-shape.ts'
import { threadErrorShape } from '../src/protocols/threads/error-shape.ts'
import { readPolicy } from '../src/supervision/workspace-policy/read-policy.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const all = (page: string, pattern: RegExp): string[] => [...page.matchAll(pattern)].map((match) => match[1] ?? '')

/** What each folder is for, and its rules. */
const readmes = globSync(['src/**/README.md', 'examples/**/README.md', 'console/README.md', 'test/README.md'], {
  cwd: root,
})

/** These are compared with their tables elsewhere. */
const generated = ['agent-yaml', 'settings', 'cli', 'errors'].map((name) => `docs/look-up/${name}.md`)
const docs = globSync('docs/**/*.md', { cwd: root }).map((path) => path.replaceAll('\\', '/'))

/** Pages written by hand. */
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'RELEASING.md']
  .concat(docs.filter((page) => !generated.includes(page)).toSorted())
  .concat(readmes)
const everyPage = globSync(['*.md', 'bench/*.md'], { cwd: root }).concat(docs, readmes)

interface Block {
  page: string
  /** The words after the three backticks. */
  marks: string[]
  text: string
}

const blocksOf = (page: string): Block[] =>
  [...read(page).matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].map(([, marks = '', code = '']) => ({
    page,
    // Where a block of Learn is put is for `test/learn`.
    marks: marks.split(' ').filter((mark) => !/^(?:file|add|end)=/.test(mark)),
    text: code,
  }))
const blocks = pages.flatMap(blocksOf)
const withoutCode = (page: string): string => read(page).replace(/^```[\s\S]*?^```$/gm, '')

test.each(pages)('%s does not speak of versions that nobody could get', (page) => {
  expect(read(page)).not.toMatch(/\bearlier versions?\b/i)
})

describe('links', () => {
  // The same rules as GitHub's.
  const anchorsOf = (page: string): string[] =>
    all(withoutCode(page), /^#+ (.+)$/gm)
      .map((heading) =>
        heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
      )
      .concat(all(withoutCode(page), /<a id="([\w-]+)"><\/a>/g))

  test.each(everyPage)('of %s lead to a file, and to a heading in it', (page) => {
    const targets = all(withoutCode(page), /\]\(([^)\s]+)\)/g).filter((target) => !/^[a-z]+:/.test(target))
    const broken = targets.filter((target) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      if (!existsSync(join(root, file))) return true
      return anchor !== undefined && !anchorsOf(file).includes(anchor)
    })
    expect(broken).toEqual([])
  })
})

/** An agent file. What an example leaves out is added. */
function wholeAgent(code: string): string {
  const ours = { model: 'model: { provider: demo }', instructions: 'instructions: Hi.' }
  const parts = { name: 'name: example', ...(/^host:/m.test(code) ? {} : ours) }
  const missing = Object.entries(parts).filter(([key]) => !new RegExp(`^${key}:`, 'm').test(code))
  return [...missing.map(([, line]) => line), code].join('\n')
}

describe('examples in YAML', () => {
  const pemFiles = { '/client.pem': '', '/client-key.pem': '', '/ca.pem': '' }
  // Those of Learn belong together: `test/learn` checks the files that they make.
  const yaml = blocks.filter(({ page, marks }) => marks[0] === 'yaml' && !page.startsWith('docs/learn/'))

  /** What is wrong with an example. */
  function issuesOf({ marks, text: code }: Block): string[] {
    switch (marks[1]) {
      case undefined: {
        const files = createMemoryFiles({
          '/agent.yaml': wholeAgent(code),
          '/answers.yaml': 'answers: []',
          '/skills/complaints/SKILL.md': '---\nname: complaints\ndescription: Answers complaints.\n---\n',
          '/tools.ts': '',
          '/shop/README.md': '',
          '/handbook/leave.md': '',
          '/questions.yaml': '[]',
          ...pemFiles,
        })
        return checkAgent('/agent.yaml', { env: {}, files }).issues.map(formatIssue)
      }
      case 'settings':
        resolveSettings({ flags: {}, env: {}, file: { path: 'quarterdeck.yaml', text: code }, onTerminal: false })
        return []
      case 'other':
        parse(code)
        return []
      case 'script':
        readScript(parse(code), 'script.yaml')
        return []
      default:
        return [`yaml is followed by ${marks[1]}`]
    }
  }

  test.each(yaml)('$page: $text', (block) => {
    expect(issuesOf(block)).toEqual([])
  })

  test('are there', () => {
    expect(yaml.length).toBeGreaterThan(8)
  })
})

const wildcards = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

describe('docs/look-up/http.md', () => {
  /** The cells of a route. Two routes depend on more than one thing. */
  function cellsOf({ method, path, role, door }: Route): string[] {
    const doors = path === '/chat' ? ['rest', 'threads'] : door === null ? [] : [door]
    return [
      `${method} ${path.replace('*', ':')}`,
      path === '/metrics' ? 'user, operator' : role,
      doors.map((one) => `\`${one}\``).join(', ') || '–',
    ]
  }

  test('lists all routes with their roles and doors, and an example for each group', async () => {
    await using example = await startExample()
    const { doors } = example
    const routes = await example.routes()
    const page = read('docs/look-up/http.md')
    // A table whose routes belong to no door has no column for it.
    const documented = page.split(/^(?=\| route)/m).flatMap((table) => {
      const rows = [...table.matchAll(/^\| `([A-Z]+ \S+)` \| (.+?) \| (.+?) \|/gm)]
      const hasDoors = table.startsWith('| route | role | door |')
      return rows.map(([, route = '', role = '', door = '']) => [wildcards(route), role, hasDoors ? door : '–'])
    })
    expect(documented.toSorted()).toEqual(routes.map(cellsOf).toSorted())

    const router = createRouter(routes, new Set(doors))
    const shown = blocksOf('docs/look-up/http.md')
      .filter(({ marks }) => marks[0] === 'sh')
      .map((block) => curl(block.text, { RUN_ID: 'r', EVENT_ID: 'e', SESSION_ID: 's', THREAD_ID: 't' }))
      .map(({ method, url }) => ({ method, route: router.find(method, new URL(url).pathname).route }))
    expect(shown.filter(({ method, route }) => route?.method !== method)).toEqual([])
    expect(shown.length).toBeGreaterThan(18)
  })

  test('says what the OpenAPI document of the server says', async () => {
    await using example = await startExample()
    const document = await (await fetch(`${example.url}/openapi.json`)).json()
    const page = read('docs/look-up/http.md')
    expect(page, 'http.md is old; run: npm run generate').toBe(fillRoutes(page, await example.routes(), document))
  })
})

test('docs/look-up/events.md lists the events that a run can have', () => {
  const engine = globSync('src/engine/**/*.ts', { cwd: root }).filter((file) => !/\.test\.ts$|\/testing\//.test(file))
  const sent = engine.flatMap((file) => all(read(file), /\btype(?::| =) '([A-Z]+(?:_[A-Z]+)*)'/g))
  const rows = all(read('docs/look-up/events.md'), /^\| ((?:`[A-Z_]+`(?:, )?)+) \|/gm)
  const listed = rows.flatMap((cell) => all(cell, /`([A-Z_]+)`/g))
  expect(listed.toSorted()).toEqual([...new Set(sent)].toSorted())
})

describe('docs/look-up/doors.md', () => {
  test('lists all statuses that differ between the doors', () => {
    const request = { path: '/', correlationId: 'c' }
    const statusesOf = (code: ErrorCode) =>
      [problemShape, agentErrorShape, chatErrorShape, threadErrorShape].map(
        (shape) => shape(problemOf(new ServerError(code, ''), request)).status,
      )
    const actual = errorCodes
      .map((code) => [code, ...statusesOf(code)])
      .filter(([, ...statuses]) => new Set(statuses).size > 1)

    const rows = [...read('docs/look-up/doors.md').matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \|((?: \d{3} \|){4})$/gm)]
    const documented = rows.flatMap(([, codes = '', cells = '']) =>
      all(codes, /`(\w+)`/g).map((code) => [code, ...all(cells, /(\d+)/g).map(Number)]),
    )
    expect(documented.toSorted()).toEqual(actual.toSorted())
  })
})

interface Request {
  method: string
  url: string
  headers: Headers
  body: string | null
}

/** Reads a `curl` command as a shell would: quotes, `$NAME`, a backslash before a quote and before the line end. */
function curl(command: string, variables: Record<string, string>): Request {
  const expand = (word: string) =>
    word.replace(/\$(\w+)/g, (_, name: string) => variables[name] ?? `no ${name}`).replaceAll('\\"', '"')
  const words = [...command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|"((?:\\"|[^"])*)"|(\S+)/g)].map(
    ([, literal, quoted, bare]) => literal ?? expand(quoted ?? bare ?? ''),
  )
  if (words.shift() !== 'curl') throw new Error(`only curl is run, not ${command}`)
  const request: Request = { method: 'GET', url: '', headers: new Headers(), body: null }
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '-N') continue
    if (word === '-X') request.method = words.shift() ?? ''
    else if (word === '-F') Object.assign(request, { method: 'POST', form: words.shift() })
    else if (word === '-d') Object.assign(request, { method: 'POST', body: words.shift() })
    else if (word === '-H') {
      const [name = '', value = ''] = (words.shift() ?? '').split(/: (.*)/)
      request.headers.set(name, value)
    } else if (word.startsWith('http')) request.url = word
    else throw new Error(`the flag ${word} is not known here`)
  }
  return request
}

/** The server of `npm start`, on a free port. Use it with `await using`. */
async function startExample(): Promise<Pick<OpenApp, 'routes' | 'doors'> & { url: string } & AsyncDisposable> {
  const dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-docs-'))
  const app = await createApp({
    ...testAppOptions(),
    agents: [loadAgent(join(root, 'examples/assistant/agent.yaml'), { env: {} })],
    settings: resolveSettings({ flags: { port: '0' }, env: {}, file: null, onTerminal: false }).settings,
    dataDir,
    version: '0.1.0',
  })
  const { url, routes, doors } = await app.listen()
  return {
    url,
    routes,
    doors,
    [Symbol.asyncDispose]: async () => {
      await app.close({ drainMs: 0 })
      await rm(dataDir, { recursive: true })
    },
  }
}

/** The keys and types of a value. The first element of a list stands for all of them. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]))
}

/** The events of a stream by name and shape: AG-UI and OpenAI name them in `type`, the threads in `event`, others above the data. */
function eventsOf(sse: string): { name: string; shape: unknown }[] {
  return sse.split('\n\n').flatMap((frame) => {
    const data = /^data: (.+)$/m.exec(frame)?.[1]
    if (data === undefined) return []
    const event: Record<string, unknown> = data === '[DONE]' ? { type: data } : JSON.parse(data)
    const name = /^event: (.+)$/m.exec(frame)?.[1] ?? event.type ?? event.event ?? event.object
    return [{ name: String(name), shape: shapeOf(event) }]
  })
}

/** An example may leave out events, but not change their order, the first or last one, or their content. */
function compareEvents(shown: string, sent: string): void {
  const [documented, actual] = [eventsOf(shown), eventsOf(sent)]
  let from = 0
  for (const event of documented) {
    const at = actual.findIndex((other, i) => i >= from && isDeepStrictEqual(other, event))
    if (at < 0) expect(actual.slice(from).filter(({ name }) => name === event.name)).toContainEqual(event)
    from = at + 1
  }
  expect([documented[0], documented.at(-1)]).toEqual([actual[0], actual.at(-1)])
}

describe('examples that are marked runnable', () => {
  const pagesWith = (language: string) =>
    pages.filter((page) => blocksOf(page).some(({ marks }) => marks[0] === language && marks[1] === 'runnable'))

  test.each(pagesWith('sh'))('the requests of %s are answered as it says', async (page) => {
    await using example = await startExample()
    const variables: Record<string, string> = {}
    let answer = ''
    for (const { marks, text: code } of blocksOf(page)) {
      if (marks[1] === 'answer' && marks[0] === 'json') {
        const compared = marks[2] === 'exact' ? (value: unknown) => value : shapeOf
        expect(compared(JSON.parse(answer)), code).toEqual(compared(JSON.parse(code)))
      } else if (marks[1] === 'answer') {
        compareEvents(code, answer)
      }
      if (marks[0] !== 'sh' || marks[1] !== 'runnable') continue
      const { url, ...init } = curl(code.replaceAll('http://127.0.0.1:8000', example.url), variables)
      const leave = new AbortController()
      const response = await fetch(url, { ...init, redirect: 'manual', signal: leave.signal })
      expect(response.status, code).toBe(Number(marks[2]))
      if (marks[3] === 'endless') {
        leave.abort()
        continue
      }
      answer = await response.text()
      const ids = all(answer, /^id: (.+)$/gm)
      variables.EVENT_ID = ids[Math.floor(ids.length / 2)] ?? variables.EVENT_ID ?? ''
      for (const name of ['RUN_ID', 'SESSION_ID', 'THREAD_ID']) {
        const value = new RegExp(`"${name.toLowerCase()}":"([^"]+)"`).exec(answer)?.[1]
        if (value !== undefined) variables[name] = value
      }
    }
  })

  // No Python packages are installed, so only examples that need nothing else are run, if there is a Python.
  const python = spawnSync('python3', ['--version']).status === 0
  test.skipIf(!python)(
    'the program of docs/do/call-from-python.md that needs no package gets its answers',
    async () => {
      await using example = await startExample()
      const [first] = blocksOf('docs/do/call-from-python.md').filter(({ marks }) => marks[0] === 'python')
      const child = spawn('python3', ['-'], { cwd: root, env: { ...process.env, NO_PROXY: '*' } })
      child.stdin.end(first?.text.replaceAll('http://127.0.0.1:8000', example.url))
      const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
      expect(complained).toBe('')
      expect(said).toMatch(/^1, 2, 3\.\n[\s\S]*^1, 2, 3, 4, 5\.\n/m)
    },
  )

  test.each(pagesWith('js'))('the program of %s gets an answer', async (page) => {
    await using example = await startExample()
    const client = JSON.stringify(pathToFileURL(join(root, 'src/client/client.ts')).href)
    const programs = blocksOf(page).filter(({ marks }) => marks[0] === 'js' && marks[1] === 'runnable')
    for (const { text: code } of programs) {
      const child = spawn(process.execPath, ['--input-type=module', '-'], { cwd: root })
      child.stdin.end(code.replaceAll('http://127.0.0.1:8000', example.url).replace("'quarterdeck/client'", client))
      const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
      expect(complained).toBe('')
      expect(said).toMatch(/^1, 2, 3\b.*\n\n\*\(I am Quarterdeck's built-in demonstration model/)
    }
  })
})

test('docs/do/get-told-on-your-phone.md shows a receiver of webhooks how to check a signature', async () => {
  const [block] = blocksOf('docs/do/get-told-on-your-phone.md').filter(({ marks }) => marks[1] === 'verify')
  const { isFromQuarterdeck } = await import(`data:text/javascript,${encodeURIComponent(block?.text ?? '')}`)
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const message = { id: 'webhook:pager:12', at: Date.now(), body: '{"type":"approval.pending"}' }
  const { body } = message
  const headers = webhookHeaders(secret, message)
  const { 'webhook-signature': signature = '', 'webhook-timestamp': _, ...undated } = headers

  expect(isFromQuarterdeck(headers, body, secret)).toBe(true)
  expect(isFromQuarterdeck({ ...headers, 'webhook-signature': `v1a,x ${signature}` }, body, secret)).toBe(true)
  const wrong = [
    [headers, `${body} `, secret],
    [headers, body, `whsec_${Buffer.alloc(32, 8).toString('base64')}`],
    [{ ...headers, 'webhook-id': 'webhook:pager:13' }, body, secret],
    [webhookHeaders(secret, { ...message, at: message.at - 600_000 }), body, secret],
    [{ ...undated, 'webhook-signature': signature }, body, secret],
    [{}, body, secret],
  ]
  expect(wrong.map((given) => isFromQuarterdeck(...given))).toEqual(wrong.map(() => false))
})

test('parts of the examples, which are run elsewhere, are shown as they are', () => {
  const shown = blocks.filter(({ marks }) => marks[1] === 'from')
  expect(shown.filter(({ marks, text: code }) => !read(marks.slice(2).join(' ')).includes(code))).toEqual([])
})

describe('functions in TypeScript', () => {
  const written = docs.flatMap((page) => {
    const own = blocksOf(page)
    return own.flatMap((block, at) => {
      if (block.marks[0] !== 'ts' || block.marks[1] !== 'tools') return []
      const agent = [own[at - 1], own[at + 1]].find((other) => other?.text.includes('tools.ts')) ?? block
      const script = own.find(({ marks }) => marks[1] === 'script') ?? null
      return [{ page, tools: block.text, agent, script }]
    })
  })

  test.each(written)('$page: $tools', async ({ tools, agent, script }) => {
    const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-tools-'))
    try {
      expect(agent.marks).toEqual(['yaml'])
      const files = { 'tools.ts': tools, 'agent.yaml': wholeAgent(agent.text), 'answers.yaml': script?.text ?? '' }
      for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
      const command = script === null ? 'validate' : 'test'
      const program = join(root, 'bin/quarterdeck.js')
      const child = spawnSync(process.execPath, [program, command, 'agent.yaml'], { cwd: folder, encoding: 'utf8' })
      expect(child).toMatchObject({ status: 0, stderr: '' })
      if (command === 'test') expect(child.stdout).toMatch(/\b2 of 2 test cases passed\b/)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

test('the policy of docs/do/write-a-policy.md has no problem', () => {
  const policies = blocksOf('docs/do/write-a-policy.md').filter(({ marks }) => marks[1] === 'policy')
  expect(policies.map(({ text: code }) => readPolicy(code).problems)).toEqual([[]])
})

test('the empty pages of the console lead to pages of docs/do', () => {
  const linked = globSync('console/src/**/*.tsx', { cwd: root }).flatMap((file) =>
    all(read(file), /<How to="([^"]+)"/g),
  )
  expect(linked.filter((name) => !existsSync(join(root, `docs/do/${name}.md`)))).toEqual([])
  expect(linked.length).toBeGreaterThan(5)
})

describe('docs/do/embed-in-your-server.md', () => {
  const own = blocksOf('docs/do/embed-in-your-server.md')

  test('has nothing but parts of examples and one program', () => {
    const others = own.filter(({ marks }) => marks[1] !== 'from')
    expect(others.map(({ marks }) => marks)).toEqual([['js', 'program']])
  })

  test('begins with a program that works', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-program-'))
    try {
      await cp(join(root, 'examples/express/agent.yaml'), join(folder, 'agent.yaml'))
      const [program] = own.filter(({ marks }) => marks[1] === 'program')
      const entry = JSON.stringify(pathToFileURL(join(root, 'src/index.ts')).href)
      const env = {
        ...process.env,
        PORT: '0',
        QUARTERDECK_LOG_LEVEL: 'silent',
        QUARTERDECK_CONFIG_DIR: join(folder, 'config'),
      }
      const child = spawn(process.execPath, ['--input-type=module', '-'], { cwd: folder, env })
      child.stdin.end(program?.text.replace("'quarterdeck'", entry))
      const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
      const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
      const url = /^The agent is at (http:\S+)\n$/.exec(line)?.[1]
      expect((await fetch(`${url}/health`)).status).toBe(200)
      child.kill('SIGTERM')
      expect(await ended).toBe(0)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('names', () => {
  test('of metrics exist', async () => {
    await using example = await startExample()
    const metrics = await (await fetch(`${example.url}/metrics`)).text()
    const named = all(read('docs/do/watch-a-server.md'), /^\| `((?:quarterdeck|gen_ai|process|nodejs)_\w+)` \|/gm)
    // Those of OpenTelemetry are there only if it is set up.
    const always = named.filter((name) => !name.startsWith('quarterdeck_telemetry_'))
    expect(always.toSorted()).toEqual(all(metrics, /^# TYPE (\w+)/gm).toSorted())
  })

  test.each(pages)('of environment variables and events in %s are known', (page) => {
    const ofProviders = Object.values(providers).flatMap(({ keys, addresses, models }) =>
      [keys, addresses, models].flat(),
    )
    const others = [
      'AZURE_AI_PROJECT_ENDPOINT',
      'AZURE_OPENAI_API_VERSION',
      'LLM_PROVIDER',
      'MISTRAL_API_KEY',
      'NODE_OPTIONS',
      'NODE_EXTRA_CA_CERTS',
      'HTTPS_PROXY',
      'HTTP_PROXY',
      'NO_PROXY',
      'PDF_PATH',
      'RUN_ID',
      'EVENT_ID',
      'SESSION_ID',
      'THREAD_ID',
      'APPROVAL_ID',
      'GRANT_ID',
      'OPERATOR_TOKEN',
      'AGENT_TOKEN',
      'CLAUDE_CONFIG_DIR',
      'CODEX_HOME',
      'COPILOT_HOME',
      'MCP_SESSION',
      'QUARTERDECK_AGENT_TOKEN',
      'QUARTERDECK_MCP_URL',
      'QUARTERDECK_URL',
      'TOKEN_ID',
      'DEVICE_ID',
      'PASSKEY_ID',
      'SHOP_TOKEN',
      'FILE_ID',
      'QUARTERDECK_OCR_LANGUAGES',
      'QUARTERDECK_CONFIG_DIR',
      'QUARTERDECK_BROWSER',
      'QUARTERDECK_REQUIRE_BROWSER',
      'QUARTERDECK_REQUIRE_PROMTOOL',
      'XDG_CONFIG_HOME',
      'POSTGRES_PASSWORD',
      'QUARTERDECK_REQUIRE_DEPLOY',
      'HAND_BACK',
      'QUARTERDECK_CHILD',
      'RESTART_SECONDS',
      'CUT_BY_LENGTH',
      'RESPONSE_ALREADY_SENT',
      'KEY_VARIABLES',
    ]
    const known = new Set([
      ...Object.values(settings).flatMap(({ env }) => env),
      ...ofProviders,
      ...credentialNames.map(credentialVariable),
      ...Object.values(hosts).flatMap(({ acp }) => acp.credentials),
      ...Object.values(EventType),
      ...others,
    ])
    const named = all(read(page), /(?<![\w/.])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g)
    expect(named.filter((name) => !known.has(name))).toEqual([])
  })

  test.each(pages)('of files in %s exist', (page) => {
    const fromRoot = all(withoutCode(page), /`((?:src|test|bench|deploy|docs|examples|bin|schema)\/[\w./*@-]*)`/g)
    // The page of a folder names its own files from there.
    const fromHere = readmes.includes(page) ? all(withoutCode(page), /`([\w.*-]+(?:\/[\w.*-]+)*(?:\.tsx?|\/))`/g) : []
    const folders = readmes.includes(page) ? [dirname(page), '.'] : ['.']
    const missing = [...fromRoot, ...fromHere].filter((path) =>
      folders.every((folder) => globSync(join(folder, path), { cwd: root }).length === 0),
    )
    expect(missing).toEqual([])
    if (page === 'docs/understand/architecture.md') expect(fromRoot.length).toBeGreaterThan(50)
  })

  test('of folders of src: each has a page, and docs/understand/architecture.md names it', () => {
    const folders = globSync('src/*/', { cwd: root }).map((folder) => folder.replaceAll('\\', '/').replace(/\/$/, ''))
    const architecture = read('docs/understand/architecture.md')
    expect(folders.filter((folder) => !architecture.includes(`\n| \`${folder}\` |`))).toEqual([])
    expect(folders.length).toBeGreaterThan(15)
  })

  test('of the glossary are in order, and still used', () => {
    const words = all(read('docs/look-up/glossary.md'), /^\| ([a-z][a-z ]*) \|/gm).filter((word) => word !== 'word')
    expect(words).toEqual(words.toSorted())
    const code = globSync('src/**/*.ts', { cwd: root }).map(read).join('\n').toLowerCase()
    expect(words.filter((word) => !code.includes(word))).toEqual([])
    expect(words.length).toBeGreaterThan(40)
  })

  test('of commands in docs/understand/promises.md make each figure: the test reads every variable that its command sets', () => {
    const rows = all(read('docs/understand/promises.md'), /^(\| P\d+ .*)$/gm).map((row) => row.split(' | '))
    expect(rows.filter((row) => row.length !== 5 || !/`(?:npm|[A-Z_]+=|npx)/.test(row[4] ?? ''))).toEqual([])
    const commands = rows.flatMap((row) => all(row[4] ?? '', /`([^`]+)`/g))
    const unread = commands.flatMap((command) => {
      const file = /(\S+\.test\.ts)$/.exec(command)?.[1]
      return all(command, /\b([A-Z_]+)=/g).filter((name) => file === undefined || !read(file).includes(`'${name}'`))
    })
    expect(unread).toEqual([])
  })

  test.each(pages)('of npm scripts in %s are in package.json', (page) => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
    const named = all(read(page), /\bnpm (?:run )?(start|test|(?<=run )[\w:-]+)/g)
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })
})

describe('what is not there yet', () => {
  const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !/\.test\.ts$|\/testing\//.test(file))

  const promised = Array.from({ length: 43 }, (_, i) => i + 1).filter((n) => n !== 35)

  /** Each sentence about something that is missing, with a check that it still is. */
  const claims: { page: string; says: string; holds(): boolean }[] = [
    {
      page: 'docs/understand/promises.md',
      says: 'P35, a release with provenance, has no test',
      // All others have a row, in order.
      holds: () => isDeepStrictEqual(all(read('docs/understand/promises.md'), /^\| P(\d+) /gm).map(Number), promised),
    },
    {
      page: 'docs/look-up/errors.md',
      says: '`not_available_yet` 501',
      holds: () => sources.some((file) => /protocols/.test(file) && /'not_available_yet',\n\s+`/.test(read(file))),
    },
  ]
  const speaksOfLater =
    /\byet\b|\bwill be\b|\bplanned\b|\bcoming (?:soon|later)\b|\b501\b|\blater (?:version|release)\b/i

  test('is mentioned only where a check proves that it is still missing', () => {
    const said = everyPage
      .filter((page) => !['CHANGELOG.md', 'THIRD-PARTY-NOTICES.md'].includes(page))
      .flatMap((page) => [...withoutCode(page).split('\n')].map((line) => ({ page, line })))
      .filter(({ line }) => speaksOfLater.test(line))
    const unknown = said.filter(
      ({ page, line }) => !claims.some((claim) => claim.page === page && line.includes(claim.says)),
    )
    expect(unknown).toEqual([])
    expect(claims.filter(({ page, says }) => !read(page).includes(says)).map(({ says }) => says)).toEqual([])
  })

  test.each(claims)('is still missing: $page, $says', ({ holds }) => {
    expect(holds()).toBe(true)
  })
})
