// The real server as a process, and a person with the operator's token who answers over HTTP.

import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { openYard, serversIn, type TestServer } from '../crash/support/start-server.ts'

/** What the tests look at, of the answer of `GET /approvals`. */
export interface Asked {
  approval_id: string
  session_id: string
  kind: string
  status: string
  tool: string
  tool_call_id: string
  arguments: Record<string, unknown>
  digest: string
  consumed_at: string | null
  nobody_waits_since: string | null
}

interface SessionElsewhere {
  status: string
  supervision: { status: string; host: string; workspace_root: string }
}

export interface Decision {
  decision: 'approve' | 'reject'
  reason?: string
  arguments?: Record<string, unknown>
}

export interface Supervisor {
  readonly url: string
  /** Where it keeps everything. */
  readonly folder: string
  /** Waits until a question waits that is not one of `known`. */
  question(known?: readonly string[]): Promise<Asked>
  /** Waits until something waits for a decision, and decides it. */
  decide(decision: Decision | ((asked: Asked) => Decision)): Promise<Asked>
  approvals(): Promise<Asked[]>
  session(id: string): Promise<SessionElsewhere>
  post(path: string, body: unknown): Promise<{ status: number; body: Record<string, unknown> }>
  /** What `GET` answers. Throws if it is not 200. */
  get(path: string): Promise<unknown>
  /** SIGTERM; resolves when the process is gone. */
  stop(): Promise<void>
  kill(): Promise<void>
  /** On the same data directory, at another port unless told otherwise. */
  restart(options?: { atSamePort: boolean }): Promise<void>
  /** The process stands still. Connections stay open. */
  freeze(): void
  /** The server is gone, and something else at its address answers everything with a 500. */
  breakDown(): Promise<void>
  close(): Promise<void>
}

export interface SupervisorOptions {
  home: string
  configDir: string
  /** quarterdeck.yaml; JSON is YAML. */
  settings?: Record<string, unknown>
  /** With an agent.yaml; it goes with the server. Left out: a new one, with a model that says hello. */
  directory?: string
  /** What else is in the environment of the server. */
  env?: Readonly<Record<string, string>>
}

export const OPERATOR_TOKEN = 'operator-token-of-the-tests-with-real-hosts'
const LOOK_MS = 100
/** Hosts need a few seconds to start, and much longer on a busy machine. */
const PATIENCE_MS = 120_000

export async function startSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const { home, configDir, settings, directory } = options
  const ends: (() => Promise<void>)[] = []
  const onEnd = (end: () => Promise<void>) => void ends.push(end)
  const yard =
    directory === undefined
      ? await openYard(onEnd, {
          ...(settings === undefined ? {} : { files: { 'quarterdeck.yaml': JSON.stringify(settings) } }),
        })
      : { directory, start: serversIn(directory, onEnd) }
  const env = {
    ...options.env,
    HOME: home,
    QUARTERDECK_CONFIG_DIR: configDir,
    QUARTERDECK_OPERATOR_TOKEN: OPERATOR_TOKEN,
  }
  let server: TestServer = await yard.start({ env })

  async function send(path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
    const answer = await fetch(`${server.url}${path}`, {
      // On a busy machine the server may close an idle connection in the moment in which it is used again.
      headers: {
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        'content-type': 'application/json',
        connection: 'close',
      },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }

  async function list(query: string): Promise<Asked[]> {
    const { status, body } = await send(`/approvals?${query}`)
    if (status !== 200) throw new Error(`GET /approvals: ${status} ${JSON.stringify(body)}`)
    return body.approvals as Asked[]
  }

  async function question(known: readonly string[] = []): Promise<Asked> {
    for (let left = PATIENCE_MS / LOOK_MS; left > 0; left--) {
      const found = (await list('status=pending')).find(({ approval_id }) => !known.includes(approval_id))
      if (found !== undefined) return found
      await sleep(LOOK_MS)
    }
    throw new Error(`nobody asked anything; the server says:\n${saying(server.log())}`)
  }

  return {
    get url() {
      return server.url
    },
    folder: yard.directory,
    question,
    async decide(decision) {
      const asked = await question()
      const given = typeof decision === 'function' ? decision(asked) : decision
      const { status, body } = await send(`/approvals/${asked.approval_id}`, { digest: asked.digest, ...given })
      if (status !== 200) throw new Error(`POST /approvals: ${status} ${JSON.stringify(body)}`)
      return asked
    },
    approvals: () => list('status=all&limit=100'),
    session: async (id) => (await send(`/sessions/${id}`)).body as unknown as SessionElsewhere,
    post: send,
    async get(path) {
      const { status, body } = await send(path)
      if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`)
      return body
    },
    async stop() {
      server.signal('SIGTERM')
      await server.exited
    },
    kill: async () => void (await server.kill()),
    async restart({ atSamePort } = { atSamePort: false }) {
      server = await yard.start({ env, flags: atSamePort ? ['--port', String(server.port)] : [] })
    },
    freeze: () => server.signal('SIGSTOP'),
    async breakDown() {
      await server.kill()
      const broken = await listen(server.port)
      ends.push(
        () =>
          new Promise((resolve) => {
            broken.closeAllConnections()
            broken.close(() => resolve())
          }),
      )
    },
    async close() {
      for (const end of ends) await end()
    },
  }
}

/** Without our own looking. */
const saying = (log: string): string =>
  log
    .split('\n')
    .filter((line) => !line.includes('"route":"/approvals"'))
    .join('\n')

function listen(port: number): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(500, { 'content-type': 'text/plain' }).end('broken on purpose')
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server))
  })
}
