// A hosted agent among three replicas: one of them holds the program of a session, and every message and answer reaches it there.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { operatorEnv, type ShownApproval } from '../crash/support/operator.ts'
import { until } from '../crash/support/until.ts'
import { hasSandbox, hostedAgent } from '../e2e/hosted-app.ts'
import { openTeam } from './support/team.ts'

const headers = {
  Authorization: `Bearer ${operatorEnv.QUARTERDECK_OPERATOR_TOKEN}`,
  'Content-Type': 'application/json',
}

if (!hasSandbox)
  process.stderr.write('Skipped: no orphans without a sandbox. Install bubblewrap (apt install bubblewrap).\n')

interface Run {
  run_id: string
  status: string
  error: unknown
}

/** `at`: the place of the replica that is asked. */
async function openHostedTeam() {
  const workspace = mkdtempSync(join(tmpdir(), 'quarterdeck-shop-'))
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }))
  const team = await openTeam(onTestFinished, {
    replicas: 3,
    yard: { agent: { model: undefined, instructions: undefined, host: hostedAgent(workspace) } },
  })

  async function request<T>(at: number, method: string, path: string, body?: unknown): Promise<T> {
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${team.replicas[at]?.url}${path}`, { method, headers, ...init })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }

  const runsOf = async (at: number, session: string): Promise<Run[]> =>
    (await request<{ runs: Run[] }>(at, 'GET', `/sessions/${session}/runs`)).runs

  return {
    ...team,
    read: (path: string) => (existsSync(join(workspace, path)) ? readFileSync(join(workspace, path), 'utf8') : null),
    send: (at: number, session: string, ...lines: string[]) =>
      request<{ run_id: string }>(at, 'POST', `/sessions/${session}/messages`, { message: lines.join('\n') }),
    runsOf,
    async rested(at: number, session: string): Promise<void> {
      await until(`${session} rests`, async () => {
        const runs = await runsOf(at, session)
        return runs.length > 0 && runs.every(({ status }) => !['queued', 'running'].includes(status))
      })
    },
    pending: async (at: number): Promise<ShownApproval[]> =>
      (await request<{ approvals: ShownApproval[] }>(at, 'GET', '/approvals')).approvals.filter(
        ({ status }) => status === 'pending',
      ),
    /** Says yes to the one approval that waits. */
    async approve(at: number, tool: string): Promise<void> {
      let waiting: ShownApproval[] = []
      await until(`${tool} is asked`, async () => {
        waiting = (await this.pending(at)).filter((one) => one.tool === tool)
        return waiting.length > 0
      })
      expect(waiting).toHaveLength(1)
      await request(at, 'POST', `/approvals/${waiting[0]?.approval_id}`, { decision: 'approve' })
    },
    async texts(at: number, session: string): Promise<string[]> {
      const { messages } = await request<{ messages: { role: string; content: string }[] }>(
        at,
        'GET',
        `/sessions/${session}`,
      )
      return messages.flatMap(({ role, content }) => (role === 'assistant' && content !== '' ? [content] : []))
    },
    /** The replica whose child the program is, and the processes of the program: outside of their sandbox their numbers are unlike. */
    holder(): { place: number; processes: number[] } {
      const all = processes()
      const ours = all.filter(({ args }) => args.includes('scripted-agent') && args.includes(workspace))
      const parents = new Set(ours.map(({ parent }) => parent))
      const place = team.replicas.findIndex((replica) => replica != null && parents.has(replica.pid))
      return { place, processes: ours.map(({ pid }) => pid) }
    },
  }
}

const processes = (): { pid: number; parent: number; args: string }[] =>
  execFileSync('ps', ['-eo', 'pid=,ppid=,args='])
    .toString()
    .split('\n')
    .map((line) => {
      const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
      return { pid: Number(pid), parent: Number(parent), args }
    })

test('messages and answers at any replica reach the one program', { skip: !hasSandbox }, async () => {
  const team = await openHostedTeam()
  await team.send(0, 'one', 'say first')
  await team.rested(0, 'one')
  const { place, processes } = team.holder()
  expect([place >= 0, processes.length > 0]).toEqual([true, true])

  for (const at of [1, 2, 0]) {
    await team.send(at, 'one', `say from ${at}`)
    await team.rested(at, 'one')
    expect(team.holder()).toEqual({ place, processes })
  }
  const others = [0, 1, 2].filter((at) => at !== place)
  const [asked = 0, answered = 0] = others
  await team.send(asked, 'one', 'ask-run echo once >> made.txt', 'say after')
  await team.rested(answered, 'one')
  await team.approve(answered, 'exec')
  await team.approve(asked, 'apply_changes')
  await team.rested(asked, 'one')

  expect(team.holder()).toEqual({ place, processes })
  expect(await team.texts(place, 'one')).toEqual(['first', 'from 1', 'from 2', 'from 0', 'after'])
  expect(team.read('made.txt')).toBe('once\n')
  expect(team.errors()).toEqual([])
})

test('when its replica is killed while a permission waits, another starts the program again with the answer', {
  skip: !hasSandbox,
}, async () => {
  const team = await openHostedTeam()
  // The first line is for people. The others reach the new program in the story of what was said, which it takes as its script.
  await team.send(0, 'two', 'Please:', 'ask-run echo once >> made.txt', 'say after')
  await team.rested(0, 'two')
  const { place } = team.holder()
  const [other = 0, another = 0] = [0, 1, 2].filter((at) => at !== place)
  await team.replicas[place]?.kill()
  await until('its program is gone', () => team.holder().processes.length === 0)

  await team.approve(other, 'exec')
  await team.approve(another, 'apply_changes')
  await team.rested(other, 'two')

  expect(team.holder().place).not.toBe(place)
  expect((await team.runsOf(other, 'two')).map(({ status, error }) => [status, error])).toEqual(
    // The message, and what went on after each yes.
    Array(3).fill(['completed', null]),
  )
  expect(await team.texts(another, 'two')).toEqual(['after'])
  expect(team.read('made.txt')).toBe('once\n')
  expect(team.errors()).toEqual([])
})
