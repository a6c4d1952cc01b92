// kill -9 at each step of a hosted agent's message: permission, continuation, changes, apply. Nothing is done or written without a yes,
// nothing twice with one, no program is left behind, and the message is answered in the end.
//
//   LONG=1 vitest run test/crash/hosted.slow.test.ts      before and after every commit, and at every step on the disk

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hasSandbox, hostedAgent } from '../e2e/hosted-app.ts'
import { isLong } from './support/figures.ts'
import { approvals, decide, operatorEnv, type ShownApproval } from './support/operator.ts'
import { openYard, type TestServer } from './support/start-server.ts'
import { until } from './support/until.ts'

const PATIENCE_MS = 120_000
const headers = {
  Authorization: `Bearer ${operatorEnv.QUARTERDECK_OPERATOR_TOKEN}`,
  'Content-Type': 'application/json',
}

const ways = [
  { way: 'die-at-commit', sign: 1, every: 4 },
  { way: 'die-at-commit', sign: -1, every: 4 },
  { way: 'die-while-writing', sign: 1, every: 2 },
] as const

if (!hasSandbox)
  process.stderr.write('Skipped: no orphans without a sandbox. Install bubblewrap (apt install bubblewrap).\n')

test.each(ways)('kill -9: $way × $sign', { timeout: 1_200_000, skip: !hasSandbox }, async ({ way, sign, every }) => {
  const yard = await openYard(onTestFinished, {
    agent: { model: undefined, instructions: undefined, host: hostedAgent('./work') },
  })
  const workspace = join(yard.directory, 'work')
  mkdirSync(workspace)
  const armFile = join(yard.directory, 'armed')
  const nodeArgs = ['--import', new URL(`./support/${way}.ts`, import.meta.url).href]
  const start = (dieAt: number) =>
    yard.start({ nodeArgs, env: { ...operatorEnv, ARM_FILE: armFile, DIE_AT: String(dieAt * sign) } })

  let deaths = 0
  for (let step = 1; ; step += isLong ? 1 : every) {
    let server = await start(step)
    const session = `step-${step}`
    const file = join(workspace, `${session}.txt`)
    writeFileSync(armFile, '')
    const hasDied = await talk(
      session,
      file,
      () => server,
      async () => {
        expect((await server.exited).signal).toBe('SIGKILL')
        rmSync(armFile, { force: true })
        server = await start(step)
      },
    )
    rmSync(armFile, { force: true })
    const asked = (await approvals(server.url)).filter(({ tool_call_id, tool }) => tool_call_id !== '' && tool !== '')
    const mine = asked.filter((one) => JSON.stringify(one).includes(`${session}.txt`))
    const used = (tool: string) => mine.filter((one) => one.tool === tool && one.status === 'consumed').length
    // Each line was written by a call of its own, and each call had a yes of its own.
    const lines = readFileSync(file, 'utf8').split('\n').length - 1
    expect(lines).toBeGreaterThan(0)
    expect(lines).toBeLessThanOrEqual(used('exec'))
    await server.kill()
    await until('no program is left', () => !programs().some((line) => line.includes(yard.directory)))
    if (hasDied) deaths += 1
    else break
  }
  expect(deaths).toBeGreaterThan(2)
})

const programs = (): string[] =>
  execFileSync('ps', ['-eo', 'args'])
    .toString()
    .split('\n')
    .filter((line) => line.includes('scripted-agent'))

/** One message, with all that is asked answered with yes, until it is answered. Returns whether the server died. */
async function talk(
  session: string,
  file: string,
  server: () => TestServer,
  restart: () => Promise<void>,
): Promise<boolean> {
  let hasDied = false
  let isAllowed = false
  const id = { ...headers, 'Idempotency-Key': session }
  const message = `ask-run echo once >> ${session}.txt`
  const began = performance.now()
  for (;;) {
    if (performance.now() - began > PATIENCE_MS) throw new Error(`${session} is not answered`)
    try {
      // Nothing is written before the changes were approved.
      if (!isAllowed) expect(existsSync(file)).toBe(false)
      const { url } = server()
      const body = JSON.stringify({ message })
      const sent = await fetch(`${url}/sessions/${session}/messages`, { method: 'POST', headers: id, body })
      expect(sent.status).toBe(202)
      const { runs } = (await (await fetch(`${url}/sessions/${session}/runs`, { headers })).json()) as {
        runs: { run_id: string; status: string }[]
      }
      const open = runs.filter(({ status }) => ['queued', 'running', 'waiting'].includes(status))
      if (open.length === 0) {
        if (existsSync(file) && runs.some(({ status }) => status === 'completed')) return hasDied
        throw new Error(`${session} ended without its file: ${JSON.stringify(runs)}`)
      }
      const waiting = (await listed(url)).filter(
        ({ status, run_id }) => status === 'pending' && open.some((run) => run.run_id === run_id),
      )
      for (const one of waiting) {
        isAllowed ||= isChange(one)
        await decide(url, one.approval_id, 'approve')
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      // The connection broke off.
      hasDied = true
      await restart()
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Throws `TypeError` when the server is gone. */
async function listed(url: string): Promise<ShownApproval[]> {
  const answer = await fetch(`${url}/approvals`, { headers })
  return ((await answer.json()) as { approvals: ShownApproval[] }).approvals
}

const isChange = ({ tool }: ShownApproval): boolean => tool === 'apply_changes'
