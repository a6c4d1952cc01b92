// A gate of nothing but the judge of risk and what was remembered: fast, without a store. The gate of a server also looks at the change
// of a file, and so asks about more (`package.json` with other scripts), never about less.

import { homedir } from 'node:os'
import type { Grant } from '../../src/domain/supervision/grant.ts'
import { isHostName } from '../../src/hosts/hosts.ts'
import { toolEffect } from '../../src/hosts/tool-effect.ts'
import { decodeHook } from '../../src/protocols/hooks/decode.ts'
import { createRemembered } from '../../src/supervision/remember/remembered.ts'
import { createAssessWork } from '../../src/supervision/risk/assess-work.ts'
import type { Assessment, Work } from '../../src/supervision/risk/risk.ts'
import type { SupervisedSession } from '../../src/supervision/sessions/take-step.ts'
import type { FullGate, HookInput } from './replay.ts'

const OWNER = 'ann'

export function createJudgeGate(workspaceRoot: string): FullGate {
  const assess = createAssessWork({ serverPaths: [], home: homedir() })
  const granted: Grant[] = []
  const clock = { now: () => 0 }
  const remembered = createRemembered({ grants: { list: async () => granted }, clock })
  const hosts = new Map<string, string>()

  function judge(host: string, input: HookInput): { work: Work; assessed: Assessment } {
    if (!isHostName(host)) throw new Error(`there is no host ${host}`)
    const { asked } = decodeHook(host, input)
    if (asked.event !== 'permission') throw new Error('not a question')
    const { toolName, command = null, cwd } = asked
    const effect = toolEffect(host, toolName, asked.input)
    const work = { toolName, effect, input: asked.input, command, workspaceRoot, cwd }
    return { work, assessed: assess(work) }
  }

  return {
    async ask(host, input) {
      const { work, assessed } = judge(host, input)
      const { risk, matches } = assessed
      const session = { id: input.session_id, owner: OWNER, supervision: { host, workspaceRoot } } as SupervisedSession
      if (risk === 'none' || (await remembered.find(session, work, assessed)).length > 0) return null
      hosts.set(input.tool_use_id, host)
      // As `groupOf` does it.
      const group =
        risk === 'low'
          ? JSON.stringify([
              host,
              input.tool_name,
              matches.findLast(({ type }) => type !== 'tool') ?? matches.at(-1) ?? input.tool_input,
            ])
          : null
      return { id: input.tool_use_id, digest: '', risk, matches, group }
    },
    async answer({ id, risk }, { remember: match }) {
      if (match === undefined) return
      const about = { tool: '', where: {}, sessionId: null, approvalId: id, policyVersion: '', expiresAt: null }
      const by = { agent: hosts.get(id) ?? '', grantedBy: OWNER, createdAt: 0 }
      granted.push({ id, ...about, ...by, elsewhere: { workspaceRoot, owner: OWNER, match, risk } })
    },
    async answerGroup() {},
    async isAllowed(host, input) {
      return (await this.ask(host, input)) === null
    },
  }
}
