// Several whole servers in one process, on one real database, and what a race between them must leave behind.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import { testAppOptions } from '../../src/app/testing/test-app.ts'
import { resolveSettings } from '../../src/config/settings/resolve-settings.ts'
import type { ModelAgent } from '../../src/domain/agent/agent.ts'
import type { Clock } from '../../src/domain/clock.ts'
import { ulidOf } from '../../src/domain/ids.ts'
import { type Logger, silentLogger } from '../../src/domain/logger.ts'
import type { Entry } from '../../src/domain/session/entry.ts'
import { isTerminalText, typeOfEventText } from '../../src/domain/session/event.ts'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import type { ScriptedAnswer } from '../../src/models/scripted/script.ts'
import { type Frame, framesOf } from '../../src/protocols/testing/sse-reader.ts'
import { serverTool } from '../../src/tools/testing/server-tool.ts'
import type { Tool } from '../../src/tools/tool.ts'
import { toolBinding } from '../../src/tools/tool-binding.ts'
import { openTestDatabase } from './test-database.ts'

export interface ReplicaOptions {
  /** Of the agent. Left out: those of all replicas. */
  answers?: readonly ScriptedAnswer[]
  tools?: (replica: string) => readonly Tool[]
  agent?: Partial<ModelAgent>
  /** Of quarterdeck.yaml. */
  settings?: Record<string, unknown>
  clock?: Clock
  log?: Logger
}

export type Body = Record<string, unknown>

/** Headers of a request, or the name of somebody who has a token. */
interface How {
  as?: string
  headers?: Record<string, string>
}

export type Replica = Awaited<ReturnType<Replicas['open']>>
export type Replicas = Awaited<ReturnType<typeof openReplicas>>

/** Use it with `await using`, or dispose of it. All share these options, which each may replace. `server` is Postgres, left out: that of all tests. */
export async function openReplicas(shared: ReplicaOptions, server?: string) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-races-')))
  mkdirSync(join(root, 'work', 'shop'), { recursive: true })
  const undo = new AsyncDisposableStack()
  undo.defer(() => rmSync(root, { recursive: true }))
  const database = await openTestDatabase(server)
  undo.defer(() => database.drop())
  const tokens = new Map<string, string>()

  async function open(name: string, own: ReplicaOptions = {}) {
    const { answers = [], tools, agent, settings: file = {}, clock, log } = { ...shared, ...own }
    const directory = join(root, name)
    mkdirSync(directory)
    const script = join(directory, 'script.json')
    writeFileSync(script, JSON.stringify({ answers }))
    const { settings } = resolveSettings({
      flags: { port: '0', store: database.url },
      env: {},
      file: {
        path: join(root, 'quarterdeck.yaml'),
        text: JSON.stringify({
          default_workspace_root: join(root, 'work'),
          max_concurrent_sessions: 100,
          operators: [
            { name: 'ada', admin: true },
            { name: 'ben', admin: true },
          ],
          ...file,
        }),
      },
      onTerminal: false,
    })
    const definition = { ...testAgent, directory, model: { ...testAgent.model, script }, ...agent }
    const app = await createApp({
      ...testAppOptions(),
      agents: [definition],
      tools: { [definition.name]: tools?.(name) ?? [] },
      settings,
      dataDir: directory,
      log: log ?? silentLogger,
      ...(clock === undefined ? {} : { clock }),
    })
    const running = await app.listen()
    let isClosed = false
    const close = async () => {
      if (isClosed) return
      isClosed = true
      await app.close({ drainMs: 0 })
    }
    undo.defer(close)
    if (tokens.size === 0) {
      const wanted = [
        { name: 'ada', user: 'ada', role: 'operator' },
        { name: 'ben', user: 'ben', role: 'operator' },
        { name: 'kim', user: 'kim', role: 'user' },
        { name: 'lim', user: 'lim', role: 'user' },
        { name: 'lam', user: 'lam', role: 'user' },
        { name: 'agent', user: 'ada', role: 'agent', workspace: join(root, 'work', 'shop') },
      ] as const
      for (const one of wanted) tokens.set(one.name, (await running.tokens.create(one, 'test')).token)
    }

    const headersOf = ({ as = 'kim', headers = {} }: How) => ({
      authorization: `Bearer ${tokens.get(as) ?? as}`,
      ...headers,
    })

    async function ask(method: string, path: string, body?: object, how: How = {}) {
      const response = await fetch(`${running.url}${path}`, {
        method,
        headers: { ...headersOf(how), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : { text }) as Body }
    }

    return {
      ...{ name, url: running.url, engine: running.engine, tokens: running.tokens, close, ask },
      post: (path: string, body: object = {}, how?: How) => ask('POST', path, body, how),
      get: (path: string, how?: How) => ask('GET', path, undefined, how),
      remove: (path: string, how?: How) => ask('DELETE', path, undefined, how),
      /** The answer itself, for whoever reads a stream. */
      raw: (path: string, init: RequestInit = {}, how: How = {}) =>
        fetch(`${running.url}${path}`, { ...init, headers: { ...headersOf(how), ...init.headers } }),
      /** Sends a message in the background. Returns the run's id. */
      async say(session: string, message: string, how?: How): Promise<string> {
        const { status, body } = await ask('POST', `/sessions/${session}/messages`, { message }, how)
        if (status !== 202) throw new Error(`a message was refused: ${status} ${JSON.stringify(body)}`)
        return String(body.run_id)
      },
    }
  }

  return {
    ...{ open, database, root },
    token: (name: string) => tokens.get(name) ?? '',
    [Symbol.asyncDispose]: () => undo.disposeAsync(),
  }
}

/** A tool that runs at the client, which has two minutes. */
export const clientTool = (name: string): Tool => ({
  ...serverTool({ name, description: 'Runs at the client.', effect: 'read', timeoutMs: 120_000, call: nothing }),
  location: 'client',
  binding: toolBinding('client', { name }),
})

const nothing = async () => ({ content: '', isError: false })

/** Looks again and again, without a limit of time, because the machine may be busy. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<Awaited<T>>> {
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found
    await new Promise<void>((resolve) => void setTimeout(resolve, 5))
  }
}

/** A reader of all events of a session at one replica. */
export function readSession(replica: Pick<Replica, 'raw'>, session: string, how: How = {}) {
  const seen: Frame[] = []
  const leaving = new AbortController()
  const ended = (async () => {
    const response = await replica.raw(`/sessions/${session}/events`, { signal: leaving.signal }, how)
    if (response.status !== 200) throw new Error(`no stream: ${response.status} ${await response.text()}`)
    for await (const frame of framesOf(response)) seen.push(frame)
  })().catch((error: unknown) => {
    if (!leaving.signal.aborted) throw error
  })
  return {
    seen,
    /** Resolves when the server ends the stream. */
    ended,
    /** Resolves when it has seen an event with this text in it. */
    until: (part: string) => until(() => seen.some(({ data }) => data.includes(part))),
    async leave(): Promise<void> {
      leaving.abort()
      await ended
    },
  }
}

export type Reader = ReturnType<typeof readSession>

/** The whole log of a session, as it is stored. Its seqs have neither gaps nor twins. */
export async function readLog({ engine }: Pick<Replica, 'engine'>, sessionId: string): Promise<Entry[]> {
  const entries = await engine.sessions.entries(sessionId, 0, 100_000)
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => i + 1))
  return entries
}

const typesOf = (entries: readonly Entry[]): string[] =>
  entries.flatMap(({ kind, data }) => (kind === 'event' ? [typeOfEventText(data) ?? ''] : []))

/**
 * Waits until all runs of a session have ended or wait, and checks what no race may change: seqs without gaps, one start and one end of
 * each run, and readers who have seen every event once, as it is stored. Returns how the runs ended, in their order.
 */
export async function settledRuns(
  replica: Pick<Replica, 'engine'>,
  session: string,
  readers: readonly Reader[] = [],
): Promise<string[]> {
  const { engine } = replica
  // AG-UI's clients choose their own names for sessions.
  const { id: sessionId } = await engine.sessions.get('kim', session)
  await until(async () => (await engine.runs.open(sessionId)).every(({ status }) => status === 'waiting'))
  const entries = await readLog(replica, sessionId)
  const events = entries.filter(({ kind }) => kind === 'event')
  const runs = (await engine.runs.list(sessionId, 100)).toReversed()
  for (const { id } of runs) {
    const own = events.filter(({ runId }) => runId === id)
    const types = typesOf(own)
    expect([types[0], types.filter((type) => type === 'RUN_STARTED').length]).toEqual(['RUN_STARTED', 1])
    expect(own.filter(({ data }) => isTerminalText(data)).length).toBe(1)
    expect(isTerminalText(own.at(-1)?.data ?? '')).toBe(true)
  }
  const ids = events.map(({ seq }) => `${ulidOf(sessionId)}.${seq}`)
  for (const { seen } of readers) {
    await until(() => seen.length >= events.length)
    expect(seen.map(({ id }) => id)).toEqual(ids)
    expect(seen.map(({ data }) => data)).toEqual(events.map(({ data }) => data))
  }
  return runs.map(({ status }) => status)
}

/** For a machine that has other things to do. */
export const BUSY_MS = 300_000

/** Does the same at each of these servers at the same moment: at the first one as Ada, at the others as Ben. */
export const asPeople = <T>(
  replicas: readonly Replica[],
  work: (replica: Replica, as: string) => Promise<T>,
): Promise<T[]> => Promise.all(replicas.map((replica, i) => work(replica, i === 0 ? 'ada' : 'ben')))

export const statuses = (results: readonly { status: number }[]): number[] => results.map(({ status }) => status).sort()
