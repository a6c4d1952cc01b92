// The same through the whole gate, as hooks reach it: sessions, changes of files, grants, on a real store.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { SupervisedApproval } from '../../src/domain/records/record.ts'
import { isHostName } from '../../src/hosts/hosts.ts'
import { decodeHook } from '../../src/protocols/hooks/decode.ts'
import type { HookVerdict } from '../../src/supervision/hooks/hook-service.ts'
import { groupOf } from '../../src/supervision/records/group-of.ts'
import { ann, openSupervision } from '../../src/supervision/testing/open-supervision.ts'
import { createJudgeGate } from './judge-gate.ts'
import { measureAsking } from './measure.ts'
import type { FullGate, HookInput, Question } from './replay.ts'

function createGate(service: ReturnType<typeof openSupervision>, workspace: string): FullGate {
  const agent = { owner: 'ann', tokenId: `token of ${workspace}`, workspace }
  const options = { signal: new AbortController().signal, limitMs: 50_000 }
  const heard = new Map<string, Promise<HookVerdict>>()

  async function ask(host: string, input: HookInput): Promise<Question | null> {
    if (!isHostName(host)) throw new Error(`there is no host ${host}`)
    const { asked } = decodeHook(host, input)
    if (asked.event !== 'permission') throw new Error('not a question')
    const verdict = service.hooks.permission(agent, asked, options)
    heard.set(input.tool_use_id, verdict)
    const isOver = Symbol()
    for (;;) {
      const tick = new Promise<null>((resolve) => void setImmediate(resolve, null))
      const isAnswered = (await Promise.race([verdict.then(() => isOver), tick])) === isOver
      if (isAnswered) return null
      const found = (await service.waiting()).find(
        (one): one is SupervisedApproval => one.wait === 'approval' && one.callId === input.tool_use_id,
      )
      if (found === undefined) continue
      const { id, digest, risk, matches = [] } = found
      return { id: `${id} ${input.tool_use_id}`, digest, risk, matches, group: groupOf(found, workspace) }
    }
  }

  const gate: FullGate = {
    ask,
    async answer({ id }, { decision, remember: match }) {
      const [approval = '', call = ''] = id.split(' ')
      const remember = match === undefined ? {} : { remember: { scope: 'workspace' as const, match } }
      await service.approvals.decide(ann, approval, { decision, ...remember })
      await heard.get(call)
    },
    async answerGroup(questions) {
      for (const question of questions) await gate.answer(question, { decision: 'approve' })
    },
    async isAllowed(host, input) {
      const question = await ask(host, input)
      if (question !== null) await gate.answer(question, { decision: 'reject' })
      return (await heard.get(input.tool_use_id))?.behavior !== 'deny'
    },
  }
  return gate
}

test('the whole gate asks as seldom as its judge, and lets nothing risky through, whatever was remembered', async () => {
  const service = openSupervision({ maxOpen: 1_000 })
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-asking-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const folder = (): string => mkdtempSync(join(base, 'folder-'))
  const measure = (open: (workspace: string) => Promise<FullGate>) => measureAsking({ folder, open, orders: [0] })

  const judge = await measure(async (workspace) => createJudgeGate(workspace))
  const whole = await measure(async (workspace) => createGate(service, workspace))

  expect(whole).toEqual(judge)
  expect([whole.slipped, whole.slippedAfter]).toEqual([[], []])
}, 900_000)
