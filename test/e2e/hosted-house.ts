// A real server process whose agent works in the scripted ACP agent, and ctl as a process of its own. Everything ends with the test.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const checkout = resolve(import.meta.dirname, '../..')
const program = join(checkout, 'bin/quarterdeck.js')
export const scripted = {
  command: join(checkout, 'node_modules/.bin/node'),
  args: [join(checkout, 'test/acp/scripted-agent.ts')],
}
const PASSPHRASE = 'correct horse battery'
const LOOK_MS = 20
const MOST_MS = 40_000

export interface HouseOptions {
  /** More keys of quarterdeck.yaml. */
  settings?: Record<string, unknown>
  /** More keys of agent.yaml. */
  agent?: Record<string, unknown>
  /** More keys of `host` in agent.yaml. */
  host?: Record<string, unknown>
  env?: Readonly<Record<string, string>>
}

/** JSON, as it came. */
// biome-ignore lint/suspicious/noExplicitAny: each test compares what it looks at.
export type Row = Record<string, any>

export type HostedHouse = Awaited<ReturnType<typeof openHostedHouse>>

/** Looks again and again. Throws, naming what it looked at, after a time that is long also for a busy machine. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<Awaited<T>>> {
  for (const until = performance.now() + MOST_MS; performance.now() < until; ) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found
    await new Promise((done) => setTimeout(done, LOOK_MS))
  }
  throw new Error(`Waited ${MOST_MS} ms in vain: ${look}`)
}

/** Use it with `await using`. */
export async function openHostedHouse({ settings = {}, agent = {}, host = {}, env = {} }: HouseOptions = {}) {
  const root = mkdtempSync(join(tmpdir(), 'quarterdeck-hosted-'))
  const [cwd, shop] = [join(root, 'server'), join(root, 'shop')]
  for (const folder of [cwd, shop]) mkdirSync(folder)
  writeFileSync(join(shop, 'a.txt'), 'one\ntwo\n')
  // JSON is YAML.
  writeFileSync(
    join(cwd, 'agent.yaml'),
    JSON.stringify({ name: 'coder', host: { ...scripted, workspace: shop, ...host }, ...agent }),
  )
  const workspaces = [{ path: shop, id: 'shop' }]
  writeFileSync(join(cwd, 'quarterdeck.yaml'), JSON.stringify({ workspaces, ...settings }))
  writeFileSync(join(root, 'passphrase'), `${PASSPHRASE}\n`, { mode: 0o600 })
  const token = 'operator-token-of-the-hosted-house'
  const environment = {
    PATH: process.env.PATH,
    HOME: root,
    XDG_CACHE_HOME: join(root, 'cache'),
    QUARTERDECK_CONFIG_DIR: join(root, 'config'),
    QUARTERDECK_OPERATOR_TOKEN: token,
    NO_COLOR: '1',
  }
  const children = new Set<ChildProcess>()

  function start(args: readonly string[], fd: number | null, more: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [program, ...args], {
      cwd,
      env: { ...environment, ...more },
      stdio: ['ignore', 'pipe', 'pipe', ...(fd === null ? [] : [fd])],
    })
    children.add(child)
    const said = { out: '', err: '' }
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (said.out += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said.err += text))
    const gone = new Promise<number | null>((done) => child.once('close', done))
    void gone.then(() => children.delete(child))
    return { child, said, gone }
  }

  async function serve(...more: string[]) {
    // With a launcher's mark it ends with the test run, also if that is killed.
    const { child, said, gone } = start(['serve', 'agent.yaml', '--port', '0', ...more], null, {
      ...{ QUARTERDECK_RELAUNCHED: '1', ...env },
    })
    const url = await Promise.race([
      until(() => (said.out.includes('is ready') ? /(http:\/\/127\.0\.0\.1:\d+)/.exec(said.out)?.[1] : null)),
      gone.then(() => Promise.reject(new Error(`the server did not start:\n${said.out}${said.err}`))),
    ])
    return { child, said, gone, url }
  }

  let server = await serve()

  async function call(method: string, path: string, body?: object, as: string | null = token) {
    const response = await fetch(server.url + path, {
      method,
      headers: {
        ...(as === null ? {} : { authorization: `Bearer ${as}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : { text }) as Row }
  }

  /** Any command of the program, in the folder of the server. */
  async function command(...args: string[]) {
    const { said, gone } = start(args, null)
    return { code: await gone, ...said }
  }

  const ctl = (...args: string[]) => command('ctl', ...args)

  /** A verb that wants the passphrase. */
  async function deciding(...args: string[]) {
    const fd = openSync(join(root, 'passphrase'), 'r')
    const { said, gone } = start(['ctl', ...args, '--passphrase-fd', '3'], fd)
    return { code: await gone, ...said }
  }

  async function run(id: unknown): Promise<Row> {
    return (await call('GET', `/runs/${id}`)).body
  }

  return {
    root,
    shop,
    cwd,
    dataDir: join(cwd, '.quarterdeck'),
    token,
    call,
    command,
    ctl,
    deciding,
    run,
    log: () => server.said.err,
    /** What the workspace has under this name. */
    read: (path: string) => readFileSync(join(shop, path), 'utf8'),
    /** Says something in a session; a new one is made if there is none. Returns the id of the run. */
    async say(session: string, message: string): Promise<string> {
      const { status, body } = await call('POST', `/sessions/${session}/messages`, { message })
      if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`)
      return String(body.run_id)
    },
    /** The run when it has one of these states. */
    until: (id: unknown, ...states: string[]): Promise<Row> =>
      until(async () => {
        const found = await run(id)
        return states.includes(String(found.status)) ? found : null
      }),
    async session(id: string): Promise<Row> {
      return (await call('GET', `/sessions/${id}`)).body
    },
    /** Numbers of the processes of agents that run in this house. */
    async programs(): Promise<number[]> {
      const found: number[] = []
      for (const name of await readdir('/proc')) {
        const text = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
        if (text.includes(scripted.args[0] ?? '') && text.includes(root)) found.push(Number(name))
      }
      return found
    },
    /** What waits for a person. */
    async inbox(): Promise<Row[]> {
      return (await call('GET', '/inbox?limit=100')).body.items as Row[]
    },
    async approvals(status = 'pending'): Promise<Row[]> {
      return (await call('GET', `/approvals?status=${status}&limit=100`)).body.approvals as Row[]
    },
    /** The text that the agent has said in a session. */
    async said(session: string): Promise<string> {
      const messages = ((await call('GET', `/sessions/${session}`)).body.messages ?? []) as Row[]
      return messages.flatMap(({ role, content }) => (role === 'assistant' ? [String(content)] : [])).join('\n')
    },
    async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
      server.child.kill(signal)
      await server.gone
    },
    async restart(...flags: string[]): Promise<void> {
      server = await serve(...flags)
    },
    async [Symbol.asyncDispose]() {
      for (const child of [...children]) {
        child.kill('SIGTERM')
        await new Promise((done) =>
          child.exitCode === null && child.signalCode === null ? child.once('close', done) : done(null),
        )
      }
      await rm(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
