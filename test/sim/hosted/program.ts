// The program of a hosted agent, as the server talks to it: what it is told becomes a list of things to do, and it does them one after the
// other, asking where it has to. It keeps the list on the disk, so that one that is started again goes on, and asks again.

import type { RequestPermissionResponse, SessionUpdate } from '@agentclientprotocol/sdk'
import { type HostedCall, mergeCall, newCall } from '../../../src/supervision/hosted/hosted-call.ts'
import {
  cancelled,
  type OpenRequest,
  type PermissionRequest,
  type WriteRequest,
} from '../../../src/supervision/hosted/open-request.ts'
import { createSaidQueue, type Said } from '../../../src/supervision/hosted/said.ts'
import { hostFailed, type Talk } from '../../../src/supervision/hosted/talk.ts'
import { placeOf } from '../elsewhere/sim-files.ts'
import type { History } from '../history.ts'
import type { Kernel } from '../kernel.ts'
import type { SimProcess } from '../process.ts'
import type { Random } from '../random.ts'
import { type HostedWorld, type Room, type Step, WORKSPACE } from './world.ts'

interface ProgramDeps {
  world: HostedWorld
  room: Room
  sessionId: string
  /** Its server. It dies with that, and hears nothing from one that stands still. */
  process: SimProcess
  kernel: Kernel
  random: Random
  history: History
  isCalm: () => boolean
  onHeard(): void
}

/** The pipes between the two, and what they need to react. */
const PIPE_MS = 5
/** As `start-host.ts` has it. */
const CANCEL_MS = 5_000
const OPTIONS = [
  { optionId: 'yes', kind: 'allow_once' as const, name: 'Yes' },
  { optionId: 'always', kind: 'allow_always' as const, name: 'Always' },
  { optionId: 'no', kind: 'reject_once' as const, name: 'No' },
]

export function startProgram(deps: ProgramDeps): Talk {
  const { world, room, sessionId, process, kernel, random, history, isCalm, onHeard } = deps
  const queue = createSaidQueue()
  const calls = new Map<string, HostedCall>()
  let requests: OpenRequest[] = []
  let isAlive = true
  let isGone = false
  let isPrompting = false
  let dropsAll = false
  /** The prompt that it works on. */
  let prompts = 0
  let asked = 0
  let ended = () => {}

  room.running += 1
  room.conversation ??= `conversation ${sessionId}`
  // A replica that stands still for longer than its lease keeps its program until it goes on.
  const isTrouble = history.troubles.some(({ from, to }) => from < kernel.time && to > kernel.time)
  if (room.running > 1 && !isTrouble) complain(`${room.running} programs of session ${sessionId} run at once`)
  process.onDeath(die)
  if (!isCalm() && random.chance(world.dies)) kernel.after(random.float() * 5_000, die)

  function complain(message: string): void {
    history.findings.push({ checker: 'hosted', message })
  }

  function die(): void {
    if (!isAlive) return
    isAlive = false
    room.running -= 1
    kernel.trace(`the program of ${sessionId.slice(-6)} ends in life ${process.number}`)
    // The server hears of it, if there is one.
    process.clock.after(random.float() * PIPE_MS, () => {
      isGone = true
      isPrompting = false
      requests = []
      ended()
      queue.push({ type: 'failed', error: hostFailed('It has ended: killed.') }, 0)
    })
  }

  /** Over the pipe, in order. */
  let arrives = 0
  function tell(said: Said): void {
    if (!isAlive) return
    arrives = Math.max(arrives + 0.001, kernel.time + random.float() * PIPE_MS)
    process.clock.after(arrives - kernel.time, () => {
      if (isGone) return
      if (said.type === 'stopped') {
        isPrompting = false
        ended()
      }
      if (said.type === 'update') hear(said.update)
      if (said.type === 'request') requests.push(said.request)
      onHeard()
      if (!dropsAll) queue.push(said, 100)
    })
  }

  function hear(update: SessionUpdate): void {
    if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update') return
    mergeCall(call(update.toolCallId), update)
  }

  function call(acpId: string): HostedCall {
    const known = calls.get(acpId) ?? newCall(acpId)
    calls.set(acpId, known)
    return known
  }

  /** Resolves with what the server answers. Never, if one of the two is gone by then. */
  function ask<Answer>(request: (answer: (value: Answer) => void) => OpenRequest): Promise<Answer> {
    return new Promise((resolve) => {
      const open = request((value) => {
        requests = requests.filter((one) => one !== open)
        kernel.after(random.float() * PIPE_MS, () => {
          if (isAlive) resolve(value)
        })
      })
      tell({ type: 'request', request: open })
    })
  }

  function askPermission(acpId: string, rawInput: Record<string, unknown>): Promise<RequestPermissionResponse> {
    return ask((answer) => {
      const request: PermissionRequest = {
        kind: 'permission',
        call: call(acpId),
        asked: { toolCallId: acpId, rawInput },
        options: OPTIONS,
        approvalId: null,
        get isOpen() {
          return requests.includes(request)
        },
        answer,
      }
      return request
    })
  }

  function askWrite(path: string, content: string): Promise<string | null> {
    return ask((answer) => {
      const request: WriteRequest = {
        kind: 'write',
        file: { path, content },
        approvalId: null,
        get isOpen() {
          return requests.includes(request)
        },
        answer,
      }
      return request
    })
  }

  function update(acpId: string, fields: object): void {
    tell({ type: 'update', update: { sessionUpdate: 'tool_call_update', toolCallId: acpId, ...fields } })
  }

  /** False: it was cancelled, and does no more of this. */
  async function run({ command, isSaid }: Extract<Step, { type: 'run' }>, prompt: number): Promise<boolean> {
    asked += 1
    const acpId = `call-${process.number}-${asked}`
    const rawInput = isSaid ? { command } : {}
    tell({
      type: 'update',
      update: { sessionUpdate: 'tool_call', toolCallId: acpId, title: 'A command', kind: 'execute', rawInput },
    })
    const { outcome } = await askPermission(acpId, rawInput)
    if (outcome.outcome === 'cancelled') return false
    if (outcome.optionId === 'always') complain(`${command} was allowed for good`)
    // What it does takes a moment, in which it can be killed.
    if (outcome.optionId === 'yes') {
      await step()
      if (prompt !== prompts) return false
      world.acts.push({ sessionId, command: isSaid ? command : null, at: kernel.time })
    }
    room.todo.shift()
    update(acpId, { status: outcome.optionId === 'yes' ? 'completed' : 'failed' })
    return true
  }

  async function write({ path, text }: Extract<Step, { type: 'write' }>): Promise<void> {
    if (world.writes === 'client') await askWrite(path, text)
    else room.copy.set(path, text)
    room.todo.shift()
  }

  /** Resolves after a moment; never, when it is dead by then. */
  const step = () =>
    new Promise<void>((resolve) => {
      kernel.after(random.float() * world.thinkMs, () => {
        if (isAlive) resolve()
      })
    })

  async function work(prompt: number): Promise<void> {
    for (;;) {
      await step()
      if (prompt !== prompts) return
      if (!isCalm() && random.chance(world.racingWrites)) interfere()
      const [next] = room.todo
      if (next === undefined) return tell({ type: 'stopped', reason: 'end_turn' })
      if (next.type === 'say') {
        const content = { type: 'text' as const, text: next.text }
        tell({ type: 'update', update: { sessionUpdate: 'agent_message_chunk', content } })
        room.todo.shift()
      } else if (next.type === 'write') await write(next)
      else if (!(await run(next, prompt))) return
    }
  }

  /** Somebody works in the same folder. */
  function interfere(): void {
    const path = random.pick(FILES)
    world.files.contents.set(placeOf({ workspaceRoot: WORKSPACE, path }), `theirs ${random.u32()}`)
  }

  const talk: Talk = {
    pid: undefined,
    acpSession: room.conversation,
    title: 'Sim',
    capabilities: {},
    modes: null,
    configOptions: [],
    calls,
    call,
    get isPrompting() {
      return isPrompting
    },
    get isGone() {
      return isGone
    },
    get requests() {
      return requests
    },
    get hasMore() {
      return queue.size > 0
    },
    prompt(blocks) {
      if (isPrompting) complain(`session ${sessionId} was prompted while it worked`)
      isPrompting = true
      prompts += 1
      const prompt = prompts
      const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
      kernel.after(random.float() * PIPE_MS, () => {
        if (!isAlive) return
        room.prompts.push(text)
        for (const [said] of text.matchAll(/say \S+/g)) {
          // The story of an earlier conversation is nothing new.
          if (room.heard.has(said)) continue
          room.heard.add(said)
          history.modelSaw.add(said)
          room.todo.push(...drawSteps(world, random, said))
        }
        void work(prompt)
      })
    },
    nextNow: () => queue.take(),
    async next(signal) {
      for (;;) {
        signal.throwIfAborted()
        const said = queue.take()
        if (said !== null) return said
        await queue.ready(signal)
      }
    },
    setMode: () => Promise.resolve(),
    setConfig: () => Promise.resolve(),
    async cancel() {
      for (const request of [...requests]) {
        if (request.kind === 'permission') request.answer(cancelled)
        else if (request.kind === 'write') request.answer('The prompt was cancelled.')
      }
      if (!isPrompting) return
      dropsAll = true
      while (queue.take() !== null);
      const end = new Promise<void>((resolve) => {
        ended = resolve
      })
      if (!random.chance(world.isDeaf)) {
        kernel.after(random.float() * PIPE_MS, () => {
          prompts += 1
          tell({ type: 'stopped', reason: 'cancelled' })
        })
      }
      await Promise.race([end, process.pause(CANCEL_MS)])
      if (isPrompting) {
        die()
        isPrompting = false
      }
      while (queue.take() !== null);
      dropsAll = false
    },
    async close() {
      die()
      await process.pause(random.float() * PIPE_MS)
      isGone = true
    },
  }
  return talk
}

const FILES = ['a.ts', 'b.ts', 'allowed.md'] as const

/** What a program makes of a message. No two things are alike, so that one that is done twice is found. */
function drawSteps(world: HostedWorld, random: Random, said: string): Step[] {
  return Array.from({ length: random.between(1, world.steps) }, (_, i): Step => {
    const name = `${said.slice('say '.length)}-${i}-${random.u32()}`
    if (random.chance(0.3)) return { type: 'say', text: `hears ${name}. ` }
    if (random.chance(0.5)) return { type: 'write', path: random.pick(FILES), text: `text ${name}` }
    return { type: 'run', command: `rm -r build-${name}`, isSaid: !random.chance(world.isSilent) }
  })
}
