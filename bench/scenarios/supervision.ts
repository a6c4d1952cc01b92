// Agents that work elsewhere: how soon they hear what a person decided, how soon an approved change is on disk, and what waiting costs.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startChild } from '../child.ts'
import { type Figure, figureOf, round } from '../figure.ts'
import { liveMemory, PROBE_FILE } from '../live-memory.ts'
import { percentilesOf } from '../percentiles.ts'
import type { Stage, Target } from '../stage.ts'
import { type BenchAgent, createAgent, mintToken, OPERATOR_TOKEN, operate } from '../supervision/agent-client.ts'
import type { RaceReport } from '../supervision/racing-applies.ts'
import type { Scenario } from './scenario.ts'

const AGENTS = 20
const ROUNDS = 15
const RIVALS = 50
const CONTESTS = 200
const WAITING = 1_000
const APPLIES = 10_000
/** Agents begin to wait in groups, as they would. */
const GROUP = 50
/** The server gives memory back when nobody has come for 8 s. Before that, resident memory shows garbage, which varies by 100 MB. */
const REST_MS = 11_000

export const supervision: Scenario = {
  name: 'supervision',
  async run(stage) {
    return [...(await talking(stage)), await race(stage), ...(await waiting(stage))]
  },
}

const supervise = (stage: Stage, file: string): Promise<Target> =>
  stage.server({
    nodeArgs: ['--expose-gc', '--import', join(import.meta.dirname, '..', 'memory-probe.ts')],
    env: {
      QUARTERDECK_OPERATOR_TOKEN: OPERATOR_TOKEN,
      QUARTERDECK_MAX_CONCURRENT_SESSIONS: String(WAITING),
      [PROBE_FILE]: file,
    },
  })

const agentsAt = (url: string, token: string, count: number, name: string): BenchAgent[] =>
  Array.from({ length: count }, (_, i) => createAgent(url, token, `${name}-${String(i).padStart(6, '0')}`))

/** The open records, by the text that each asks. */
async function openRecords(url: string, path: 'prompts' | 'approvals', wanted: number): Promise<Map<string, string>> {
  for (let tries = 0; tries < 600; tries += 1) {
    const { body } = await operate('GET', `${url}${path}?status=pending&limit=100`)
    const list = (body[path] ?? []) as Record<string, unknown>[]
    const found = new Map(
      list.map((one) => [String(one.prompt_text ?? one.title), String(one.prompt_id ?? one.approval_id)]),
    )
    if (found.size >= wanted) return found
    await delay(20)
  }
  throw new Error(`${wanted} ${path} never waited at ${url}`)
}

async function talking(stage: Stage): Promise<Figure[]> {
  const server = await supervise(stage, join(stage.folder('memory'), 'alive.json'))
  const workspace = stage.folder('workspace')
  const agents = agentsAt(server.url, await mintToken(server.url, workspace), AGENTS, 'talking')
  const heard: number[] = []
  const onDisk: number[] = []
  for (let turn = 0; turn <= ROUNDS; turn += 1) {
    const answers = await decideAll(server.url, agents, turn)
    const files = await acceptAll(server.url, agents, workspace, turn)
    // The first round compiles.
    if (turn > 0) {
      heard.push(...answers)
      onDisk.push(...files)
    }
  }
  const contest = await compete(server.url, agents)
  await server.stop()
  const times = (what: string, samples: readonly number[], limit: number, note: string): Figure => {
    const { p50 = Number.NaN, p99 = Number.NaN, max = Number.NaN } = percentilesOf(samples) ?? {}
    const shown = `p50 ${round(p50)} ms, max ${round(max)} ms`
    return figureOf({ scenario: 'supervision', what, server: shown, value: p99, limit, unit: ' ms', note })
  }
  return [
    times(
      'decision to the agent’s result, p99',
      heard,
      1_000,
      `${AGENTS} agents with open progress streams, all answered at once, ${ROUNDS} rounds`,
    ),
    times(
      'yes to the file on disk, p99',
      onDisk,
      2_000,
      `from the operator’s request; the agent calls accept_diff as soon as it has the yes; ${AGENTS} agents at once, ${ROUNDS} rounds`,
    ),
    figureOf({
      scenario: 'supervision',
      what: `${RIVALS} decisions at once, ${CONTESTS} times`,
      server: `${contest.winners} winners`,
      value: contest.wrong,
      limit: 0,
      unit: ' failed',
      note: `questions without exactly one winner; ${RIVALS * CONTESTS} requests in ${round(contest.seconds)} s`,
    }),
  ]
}

/** Every agent asks, then all are answered at the same time. Gives the ms until each had its answer. */
async function decideAll(url: string, agents: readonly BenchAgent[], turn: number): Promise<number[]> {
  const text = (i: number) => `Shall agent ${i} go on, round ${turn}?`
  const calls = agents.map((agent, i) => agent.call('forward_prompt', { prompt_text: text(i) }))
  await Promise.all(calls.map(({ progress }) => progress))
  const open = await openRecords(url, 'prompts', agents.length)
  return Promise.all(
    calls.map(async ({ answer }, i) => {
      const began = performance.now()
      const [{ status }, told] = await Promise.all([
        operate('POST', `${url}prompts/${open.get(text(i))}`, { decision: 'continue' }),
        answer.then((value) => ({ ...value, at: performance.now() })),
      ])
      if (status !== 200 || !('decision' in told))
        throw new Error(`a prompt was answered with ${status}, ${JSON.stringify(told)}`)
      return told.at - began
    }),
  )
}

/** Every agent asks to write a file, and gets a yes at the same time as the others. */
async function acceptAll(
  url: string,
  agents: readonly BenchAgent[],
  workspace: string,
  turn: number,
): Promise<number[]> {
  const title = (i: number) => `Change ${i} of round ${turn}`
  const text = (i: number) => `${title(i)}\n${'line of text\n'.repeat(500)}`
  for (const i of agents.keys()) if (turn === 0) writeFileSync(join(workspace, `file-${i}.txt`), 'old\n')
  const calls = agents.map((agent, i) =>
    agent.call('ask_approval', { title: title(i), diff: text(i), file_path: `file-${i}.txt` }),
  )
  await Promise.all(calls.map(({ progress }) => progress))
  const open = await openRecords(url, 'approvals', agents.length)
  return Promise.all(
    agents.map(async (agent, i) => {
      const began = performance.now()
      const yes = operate('POST', `${url}approvals/${open.get(title(i))}`, { decision: 'approve' })
      const told = await calls[i]?.answer
      const applied = await agent.call('accept_diff', { request_id: told?.request_id }).answer
      const took = performance.now() - began
      const isThere = readFileSync(join(workspace, `file-${i}.txt`), 'utf8') === text(i)
      if ((await yes).status !== 200 || applied.status !== 'applied' || !isThere)
        throw new Error(`a change was not written: ${JSON.stringify(applied)}`)
      return took
    }),
  )
}

/** Many operators answer the same question at the same moment. */
async function compete(
  url: string,
  agents: readonly BenchAgent[],
): Promise<{ winners: number; wrong: number; seconds: number }> {
  const began = performance.now()
  let winners = 0
  let wrong = 0
  for (let contest = 0; contest < CONTESTS; contest += 1) {
    const text = `Contest ${contest}`
    const call = agents[contest % agents.length]?.call('forward_prompt', { prompt_text: text })
    await call?.progress
    const id = (await openRecords(url, 'prompts', 1)).get(text)
    const answers = await Promise.all(
      Array.from({ length: RIVALS }, (_, i) =>
        operate('POST', `${url}prompts/${id}`, { decision: 'refine', instruction: `Do ${i}.` }),
      ),
    )
    const won = answers.flatMap(({ status }, i) => (status === 200 ? [i] : []))
    winners += won.length
    const told = await call?.answer
    const isRight =
      won.length === 1 &&
      told?.instruction === `Do ${won[0]}.` &&
      answers.every(({ status }) => status === 200 || status === 409)
    if (!isRight) wrong += 1
  }
  return { winners, wrong, seconds: (performance.now() - began) / 1_000 }
}

async function race(stage: Stage): Promise<Figure> {
  const script = join(import.meta.dirname, '..', 'supervision', 'racing-applies.ts')
  const args = [script, '--folder', stage.folder('race'), '--applies', String(APPLIES)]
  const report: RaceReport = JSON.parse(await startChild({ name: 'the applies', args, core: null }).output())
  return figureOf({
    scenario: 'supervision',
    what: `${APPLIES} applies against a racing writer`,
    server: `${report.applied} applied, ${report.conflicts} conflicts`,
    value: report.wrong,
    limit: 0,
    unit: ' failed',
    note: `wrong contents; ${report.lost} writes came in the moment of the rename and were replaced; ${round(report.seconds)} s`,
  })
}

async function waiting(stage: Stage): Promise<Figure[]> {
  const file = join(stage.folder('memory'), 'alive.json')
  const server = await supervise(stage, file)
  const token = await mintToken(server.url, stage.folder('workspace'))
  const agents = agentsAt(server.url, token, WAITING, 'waiting')
  // Everything that is loaded later is loaded, and the first sessions are there.
  await waitIn(agents.slice(0, GROUP))
  await delay(REST_MS)
  const before = await liveMemory(server.child.pid, file)
  for (let from = GROUP; from < WAITING; from += GROUP) await waitIn(agents.slice(from, from + GROUP))
  await delay(REST_MS)
  const after = await liveMemory(server.child.pid, file)
  const inbox = await timeInbox(server.url)
  await server.stop()
  const count = WAITING - GROUP
  const kb = (mb: number): number => (mb * 1_000) / count
  return [
    figureOf({
      scenario: 'supervision',
      what: `GET /inbox with ${WAITING} pending items, p99`,
      server: `p50 ${round(inbox.p50)} ms`,
      value: inbox.p99,
      limit: 50,
      unit: ' ms',
      note: `a page of 50, 100 requests one after the other, ${WAITING} open streams`,
    }),
    figureOf({
      scenario: 'supervision',
      what: 'memory of an agent that waits, resident',
      base: `${round(before.rssMb)} MB`,
      server: `${round(after.rssMb)} MB`,
      value: kb(after.rssMb - before.rssMb),
      limit: 40,
      unit: ' KB',
      note: `from ${GROUP} to ${WAITING} waiting agents with open streams, each after ${REST_MS / 1_000} s of rest; alive after a collection: ${round(kb(after.aliveMb - before.aliveMb))} KB each`,
    }),
  ]
}

/** Lets agents wait for an instruction, and resolves when all their streams are open. */
async function waitIn(agents: readonly BenchAgent[]): Promise<void> {
  await Promise.all(agents.map((agent) => agent.call('wait_for_instruction', { message: 'What next?' }).progress))
}

async function timeInbox(url: string): Promise<{ p50: number; p99: number }> {
  const samples: number[] = []
  for (let i = 0; i < 110; i += 1) {
    const began = performance.now()
    const { status, body } = await operate('GET', `${url}inbox?limit=50`)
    if (status !== 200 || !Array.isArray(body.items) || body.items.length !== 50)
      throw new Error(`the inbox answered ${status}`)
    if (i >= 10) samples.push(performance.now() - began)
  }
  return percentilesOf(samples) ?? { p50: Number.NaN, p99: Number.NaN }
}
