// kill -9 at each step from an approval to the written file, with the real program: the file is never written twice, never half, never
// without an approval, and an approval is never forgotten.
//
//   LONG=1 vitest run test/crash/apply.slow.test.ts      new files and deletions too (`npm run test:long`)

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connectAgent, mintAgentToken } from './support/agent-elsewhere.ts'
import { isLong } from './support/figures.ts'
import { approval, approvals, decide, operatorEnv } from './support/operator.ts'
import { openYard, type TestServer } from './support/start-server.ts'
import { until } from './support/until.ts'

const PATIENCE_MS = 180_000
/** More than an apply has. */
const MOST_STEPS = 30

const OLD = 'old\n'.repeat(1_000)
const NEW = 'new\n'.repeat(1_000)
const deletion = `--- a/file.txt\n+++ /dev/null\n@@ -1,1000 +0,0 @@\n${'-old\n'.repeat(1_000)}`

const kinds = [
  { kind: 'modify', before: OLD, diff: NEW, after: NEW },
  { kind: 'create', before: null, diff: NEW, after: NEW },
  { kind: 'delete', before: OLD, diff: deletion, after: null },
] as const

/** In seconds there is time for one of them. */
const chosen = isLong ? kinds : kinds.slice(0, 1)

test.each(chosen)(
  'kill -9 at each step of writing a change ($kind)',
  { timeout: 600_000 },
  async ({ before, diff, after }) => {
    const yard = await openYard(onTestFinished)
    const workspace = join(yard.directory, 'work')
    mkdirSync(workspace)
    const file = join(workspace, 'file.txt')
    const armFile = join(yard.directory, 'armed')
    const content = () => (existsSync(file) ? readFileSync(file, 'utf8') : null)
    const nodeArgs = ['--import', new URL('./support/die-while-writing.ts', import.meta.url).href]
    const start = (dieAt: number) =>
      yard.start({ nodeArgs, env: { ...operatorEnv, ARM_FILE: armFile, DIE_AT: String(dieAt) } })

    let server = await start(1)
    const token = await mintAgentToken(server.url, workspace)
    const seen: { died: boolean; file: string; record: string }[] = []

    for (let step = 1; step <= MOST_STEPS; step += 1) {
      rmSync(armFile, { force: true })
      if (before === null) rmSync(file, { force: true })
      else writeFileSync(file, before)
      const id = await ask(server, token, { diff, title: `Step ${step}` })
      // Nobody has approved it yet.
      expect(await accept(server, token, id)).toMatchObject({ error_code: 'not_approved' })
      expect(content()).toBe(before)
      expect(await decide(server.url, id, 'approve')).toMatchObject({ status: 200 })

      writeFileSync(armFile, '')
      // A client of the legacy era waits for a dead server until its own limit.
      const answer = await Promise.race([accept(server, token, id).catch(() => null), server.exited.then(() => null)])
      const died = answer === null
      if (died) {
        expect((await server.exited).signal).toBe('SIGKILL')
        // The old file or the new one, and nothing in between.
        expect([before, after]).toContain(content())
      }
      const left = content() === after ? 'new' : 'old'
      rmSync(armFile)
      if (died) server = await start(step + 1)

      // Recovery finishes what was used up. What was not used up yet is still approved, so the agent can call again.
      await until('the record is clear', async () => (await approval(server.url, id)).status !== 'pending', PATIENCE_MS)
      const { status } = await approval(server.url, id)
      const again = await accept(server, token, id)
      if (died && status === 'approved') expect(again).toMatchObject({ status: 'applied' })
      else expect(again).toMatchObject({ error_code: 'already_consumed' })
      expect(content()).toBe(after)
      expect(await accept(server, token, id)).toMatchObject({ error_code: 'already_consumed' })
      expect(readdirSync(workspace)).toEqual(after === null ? [] : ['file.txt'])
      seen.push({ died, file: left, record: status })
      if (!died) break
    }

    // It died before and after the approval was used, before and after the file was there, and at last not at all.
    expect(seen.at(-1)).toEqual({ died: false, file: 'new', record: 'consumed' })
    const deaths = new Set(seen.slice(0, -1).map(({ file: left, record }) => `${left} ${record}`))
    expect([...deaths].sort()).toEqual(['new consumed', 'old approved', 'old consumed'])
    expect((await approvals(server.url)).map(({ status }) => status)).toEqual(seen.map(() => 'consumed'))
  },
)

/** Asks in the session of the first request, and gives the id of the request that then waits. */
async function ask(
  server: TestServer,
  token: string,
  { diff, title }: { diff: string; title: string },
): Promise<string> {
  const agent = await connectAgent(server.url, token)
  const named = (await approvals(server.url)).map(({ session_id }) => ({ session_id }))
  const asking = agent.call('ask_approval', { title, diff, file_path: 'file.txt', ...named[0] }).catch(() => null)
  let id = ''
  await until(
    'the question waits',
    async () => {
      const [waiting] = (await approvals(server.url)).filter(({ status }) => status === 'pending')
      id = waiting?.approval_id ?? ''
      return id !== ''
    },
    PATIENCE_MS,
  )
  // The window closes. That decides nothing.
  await agent.close()
  await asking
  return id
}

async function accept(server: TestServer, token: string, id: string): Promise<Record<string, unknown>> {
  const agent = await connectAgent(server.url, token)
  try {
    const { session_id } = await approval(server.url, id)
    return await agent.call('accept_diff', { request_id: id, session_id })
  } finally {
    await agent.close()
  }
}
