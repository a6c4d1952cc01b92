// The test's side of the stand-in server: start it, answer for people, kill it, stop it in its tracks.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { HookNotice, HookVerdict } from '../../src/supervision/hooks/hook-desk.ts'
import type { Waiting } from './stand-in-server.ts'

export interface Supervisor {
  url: string
  /** Waits until something waits for a decision, and decides it. */
  decide(verdict: HookVerdict | ((waiting: Waiting) => HookVerdict)): Promise<Waiting>
  /** Waits until a question waits that is not one of `known`. */
  question(known?: readonly string[]): Promise<Waiting>
  look(): Promise<{ waiting: Waiting[]; notices: HookNotice[] }>
  /** From now on hooks get a 500. */
  breakDown(): Promise<void>
  kill(): Promise<void>
  /** On the same port. */
  restart(): Promise<void>
  /** The process stands still. Connections stay open. */
  freeze(): void
  close(): Promise<void>
}

const PROGRAM = fileURLToPath(new URL('stand-in-server.ts', import.meta.url))
const LOOK_MS = 100
/** Hosts need a few seconds to start on a busy machine. */
const PATIENCE_MS = 90_000

export async function startSupervisor(workspace: string): Promise<Supervisor> {
  let port = '0'
  let child: ChildProcess | null = null

  async function start(): Promise<void> {
    const started = spawn(process.execPath, [PROGRAM, port, workspace], { stdio: ['ignore', 'pipe', 'inherit'] })
    child = started
    if (started.stdout === null) throw new Error('the stand-in has no output')
    for await (const line of createInterface({ input: started.stdout })) {
      port = line
      return
    }
    throw new Error('the stand-in did not start')
  }

  async function kill(): Promise<void> {
    const dying = child
    child = null
    if (dying === null || dying.exitCode !== null) return
    const gone = once(dying, 'exit')
    dying.kill('SIGKILL')
    await gone
  }

  const url = () => `http://127.0.0.1:${port}`
  const post = (path: string, body: unknown) =>
    fetch(`${url()}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const look: Supervisor['look'] = async () => JSON.parse(await (await fetch(`${url()}/stand-in`)).text())

  async function question(known: readonly string[] = []): Promise<Waiting> {
    for (let left = PATIENCE_MS / LOOK_MS; left > 0; left--) {
      const found = (await look()).waiting.find(({ id }) => !known.includes(id))
      if (found !== undefined) return found
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
    throw new Error('nobody asked anything')
  }

  await start()
  return {
    get url() {
      return url()
    },
    question,
    look,
    async decide(verdict) {
      const waiting = await question()
      await post('/stand-in/decide', {
        id: waiting.id,
        verdict: typeof verdict === 'function' ? verdict(waiting) : verdict,
      })
      return waiting
    },
    breakDown: async () => void (await post('/stand-in/broken', true)),
    kill,
    restart: start,
    freeze: () => void child?.kill('SIGSTOP'),
    close: kill,
  }
}
