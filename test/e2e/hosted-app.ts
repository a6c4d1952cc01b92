// A server whose agent is a coding agent's own program: the scripted one of `test/acp`, over HTTP, as its operator and its user see it.

import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { until } from '../crash/support/until.ts'
import { startAgentFiles } from './agent-files-app.ts'

const AGENT = join(import.meta.dirname, '../acp/scripted-agent.ts')
export const hasSandbox = existsSync('/usr/bin/bwrap')

export const hostedAgent = (workspace: string, host: Record<string, unknown> = {}, args: readonly string[] = []) => ({
  command: process.execPath,
  args: [AGENT, ...args],
  workspace,
  ...(hasSandbox ? {} : { unconfined: true }),
  ...host,
})

export interface HostedAppOptions {
  /** More keys of `host`. */
  host?: Record<string, unknown>
  /** More arguments of the program. */
  args?: readonly string[]
  /** More keys of agent.yaml. */
  agent?: Record<string, unknown>
  /** What lies in the workspace. */
  files?: Readonly<Record<string, string>>
  /** Files beside agent.yaml. */
  beside?: Readonly<Record<string, unknown>>
  /** Settings of the server. */
  flags?: Readonly<Record<string, string>>
}

export interface Run {
  run_id: string
  status: string
  created_at: string
  parent_run_id: string | null
  error: { code: string; message: string } | null
  [key: string]: unknown
}

export interface Approval {
  approval_id: string
  kind: string
  status: string
  tool: string
  risk: string
  title: string
  digest: string
  arguments: unknown
  run_id: string
  [key: string]: unknown
}

export type HostedApp = Awaited<ReturnType<typeof openHostedApp>>

/** Use it with `await using`. */
export async function openHostedApp({ host, args, agent, files = {}, beside = {}, flags = {} }: HostedAppOptions = {}) {
  await using undo = new AsyncDisposableStack()
  const workspace = await mkdtemp(join(tmpdir(), 'quarterdeck-shop-'))
  undo.defer(() => rm(workspace, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true })
    await writeFile(join(workspace, path), text)
  }
  const app = undo.use(
    await startAgentFiles(
      {
        'agent.yaml': JSON.stringify({ name: 'coder', host: hostedAgent(workspace, host, args), ...agent }),
        ...beside,
      },
      { flags },
    ),
  )
  const { url, asOperator } = app

  // biome-ignore lint/suspicious/noExplicitAny: answers are compared as they are.
  async function request<T = any>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...asOperator, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return (text === '' ? null : JSON.parse(text)) as T
  }

  /** Waits until nothing of the session runs; returns its last run. */
  async function rested(session: string): Promise<Run> {
    let last: Run | undefined
    await until(`${session} rests`, async () => {
      const { runs } = await request<{ runs: Run[] }>('GET', `/sessions/${session}/runs`)
      last = runs.toSorted((a, b) => a.created_at.localeCompare(b.created_at)).at(-1)
      return last !== undefined && runs.every(({ status }) => status !== 'queued' && status !== 'running')
    })
    if (last === undefined) throw new Error('It has no run.')
    return last
  }

  const house = {
    ...app,
    workspace,
    request,
    rested,
    read: (path: string) => (existsSync(join(workspace, path)) ? readFileSync(join(workspace, path), 'utf8') : null),
    /** Sends it, and returns the run's id. */
    send: async (session: string, message: string | readonly string[]): Promise<string> => {
      const text = typeof message === 'string' ? message : message.join('\n')
      const { run_id } = await request<{ run_id: string }>('POST', `/sessions/${session}/messages`, { message: text })
      return run_id
    },
    /** How the run ended. */
    async ended(runId: string, withinMs?: number): Promise<Run> {
      const look = () => request<Run>('GET', `/runs/${runId}`)
      await until(`${runId} ends`, async () => !['queued', 'running'].includes((await look()).status), withinMs)
      return look()
    },
    /** Sends it, and waits until the agent has answered or waits for somebody. */
    async say(session: string, ...lines: string[]) {
      await house.send(session, lines)
      return rested(session)
    },
    /** Resolves when the agent has said so. */
    async heard(session: string, text: string): Promise<void> {
      const stop = new AbortController()
      const headers = { ...asOperator, Accept: 'text/event-stream' }
      const { body } = await fetch(`${url}/sessions/${session}/events`, { headers, signal: stop.signal })
      if (body === null) throw new Error('There are no events.')
      let said = ''
      for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
        said += chunk
        if (said.includes(`"delta":"${text}`)) break
      }
      stop.abort()
    },
    async pending(): Promise<Approval[]> {
      const { approvals } = await request<{ approvals: Approval[] }>('GET', '/approvals')
      return approvals.filter(({ status }) => status === 'pending')
    },
    /** The one that the session waits for. */
    async asked(session: string): Promise<Approval> {
      await rested(session)
      const path = `/approvals?status=pending&session_id=${encodeURIComponent(session)}`
      const { approvals } = await request<{ approvals: Approval[] }>('GET', path)
      const [approval, ...others] = approvals
      if (approval === undefined || others.length > 0)
        throw new Error(`${session} waits for ${others.length} approvals`)
      return approval
    },
    decide: (id: string, answer: Record<string, unknown>) => request('POST', `/approvals/${id}`, answer),
    /** Answers the one that waits, and waits until the run is over. */
    async answer(session: string, answer: Record<string, unknown>) {
      const { approval_id, digest } = await house.asked(session)
      await house.decide(approval_id, { digest, ...answer })
      return rested(session)
    },
    async texts(session: string): Promise<string[]> {
      const { messages } = await request<{ messages: { role: string; content: string }[] }>(
        'GET',
        `/sessions/${session}`,
      )
      return messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)
    },
    lastText: async (session: string): Promise<string> => (await house.texts(session)).at(-1) ?? '',
  }
  const opened = undo.move()
  return { ...house, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** A place where the agent waits, with a line that brings it there, until somebody lets it go on. Use it with `await using`. */
export async function openGate() {
  const arrived = Promise.withResolvers<Socket>()
  const gate = createServer((socket) => arrived.resolve(socket.on('error', () => {})))
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve))
  const address = gate.address()
  const port = typeof address === 'object' ? address?.port : ''
  return {
    line: `run bash -c 'cat < /dev/tcp/127.0.0.1/${port}'`,
    arrived: arrived.promise,
    /** The agent says this text after `exit 0: `. */
    open: async (text: string) => void (await arrived.promise).end(text),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => gate.close(() => resolve())),
  }
}
