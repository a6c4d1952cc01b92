import { array, asyncProperty, boolean, constantFrom, assert as holds, integer, option, record } from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { isSupervisedApproval } from '../../domain/records/record.ts'
import type { Decision } from '../../domain/supervision/decision.ts'
import { agentIn, ann, callOf, openSupervision } from '../testing/open-supervision.ts'
import { makeWorkspace } from '../testing/workspace.ts'
import { offered } from './offered.ts'

const bash = (command: string) => ({ tool_name: 'Bash', input: { command } })
const write = (file_path: string) => ({ tool_name: 'Write', input: { file_path, content: 'x' } })
const CRITICAL = [
  bash('git push --force origin main'),
  bash('npm test && git push --force origin main'),
  bash('echo \u202e'),
  write('/etc/passwd'),
  write('.git/hooks/pre-commit'),
  { tool_name: 'Deploy', input: { to: 'x\u202e' } },
]
const OTHERS = [
  bash('npm test'),
  bash('git push origin main'),
  write('a.txt'),
  { tool_name: 'Deploy', input: { to: 'x' } },
]

function openGate() {
  const { tools, store, approvals } = openSupervision()
  const agent = agentIn(makeWorkspace({ 'a.txt': 'one\n' }))
  /** Null: nobody was asked. */
  async function make(call: (typeof CRITICAL)[number]) {
    let isOver = false
    const verdict = tools.approve_tool(callOf(agent), call).finally(() => {
      isOver = true
    })
    for (;;) {
      const [wait = null] = await store.waits.list({ isWaiting: true, limit: 1 })
      if (wait !== null && !isSupervisedApproval(wait)) throw new Error('not an approval')
      if (wait !== null || isOver) return { asked: wait, verdict: verdict.then(({ answer }) => answer.behavior) }
      await new Promise<void>((resolve) => void setImmediate(resolve))
    }
  }
  const say = (id: string, decision: Decision) => approvals.decide(ann, id, decision)
  return { make, say, grants: () => approvals.grants() }
}

test.each(CRITICAL)('a no to %j can be remembered, and only a no', async (call) => {
  const { make, say, grants } = openGate()
  const { asked, verdict } = await make(call)
  if (asked === null) throw new Error('nobody was asked')
  expect(offered(asked)).toMatchObject({ yes: false, matches: [{ label: expect.any(String) }] })
  const remember = { scope: 'workspace' as const }
  await expect(say(asked.id, { decision: 'approve', remember })).rejects.toMatchObject({ code: 'invalid_request' })
  await say(asked.id, { decision: 'reject', remember })
  expect([await verdict, (await grants()).length]).toEqual(['deny', 1])

  const again = await make(call)
  expect([again.asked, await again.verdict]).toEqual([null, 'deny'])
})

const steps = record({
  call: constantFrom(...CRITICAL, ...OTHERS),
  isYes: boolean(),
  scope: option(constantFrom('session' as const, '15m' as const, 'workspace' as const), { nil: null }),
  choice: integer({ min: 0, max: 5 }),
})

/** Passes the second time, so that the property always sees one that does. */
const remembered = { call: OTHERS[0] ?? bash('npm test'), isYes: true, scope: 'workspace' as const, choice: 0 }

test('no sequence of answers lets a critical call pass without its own yes', async () => {
  let allowed = 0
  await holds(
    asyncProperty(array(steps, { minLength: 2, maxLength: 8 }), async (sequence) => {
      const { make, say } = openGate()
      for (const { call, isYes, scope, choice } of sequence) {
        const { asked, verdict } = await make(call)
        const isCritical = CRITICAL.includes(call)
        if (asked === null) {
          const passes = (await verdict) === 'allow'
          if (passes) allowed += 1
          expect([call, isCritical && passes]).toEqual([call, false])
          continue
        }
        const { matches = [] } = asked
        const match = matches[choice % Math.max(matches.length, 1)]
        const decision = isYes ? ('approve' as const) : ('reject' as const)
        const remember = scope === null || match === undefined ? {} : { remember: { scope, match } }
        // What is refused was not said. Then they say it without.
        await say(asked.id, { decision, ...remember }).catch(() => say(asked.id, { decision }))
        expect(await verdict).toBe(isYes ? 'allow' : 'deny')
      }
    }),
    { numRuns: runs(100), examples: [[[remembered, remembered]]] },
  )
  expect(allowed).toBeGreaterThan(0)
})
