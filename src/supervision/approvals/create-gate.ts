// The gate in front of every call: the rules first, then the standing yeses.

import type { Grant } from '../../domain/grant.ts'
import type { Risk } from '../../domain/tool-settings.ts'
import { hidesCharacters, visibleText } from '../../domain/visible-text.ts'
import type { Gate, GatedCall, Question } from '../../engine/gate.ts'
import { applyPolicy } from '../policy/apply-policy.ts'
import { fits } from '../policy/argument-conditions.ts'
import type { PathSense } from '../policy/path-conditions.ts'
import { policyVersion } from '../policy/policy-version.ts'
import { createRealPath } from '../policy/real-path.ts'
import { grantOf } from './grant-of.ts'
import { shownArguments } from './shown-arguments.ts'

export interface GateDeps {
  /** The standing yeses of an agent that have not expired: of this session and of all. */
  grantsFor(agent: string, sessionId: string, now: number): Promise<readonly Grant[]>
  /** Where a path leads. Left out: as the disk says. */
  realPath?: PathSense['realPath']
}

export function createGate({ grantsFor, realPath }: GateDeps): Gate {
  return {
    async judge(call) {
      const { agent, tool, sessionId, now } = call
      const risk = riskOf(call)
      const paths: PathSense = {
        parameters: tool.parameters,
        roots: tool.roots ?? [agent.directory],
        realPath: realPath ?? createRealPath(),
      }
      const ruling = applyPolicy({
        rule: tool.approval ?? agent.approval.default,
        agentRule: agent.approval.default,
        policy: agent.approval.policy,
        tool: tool.name,
        risk,
        arguments: call.arguments,
        paths,
      })
      if (ruling === 'run') return { verdict: 'run', grant: null }
      if (ruling === 'refuse') {
        return { verdict: 'refuse', reason: `the policy of ${agent.name} refuses ${tool.name} with these arguments.` }
      }
      // What is critical is asked about every time.
      if (risk !== 'critical') {
        const grant = (await grantsFor(agent.name, sessionId, now)).find((one) => covers(one, call, paths))
        if (grant !== undefined) return { verdict: 'run', grant: grant.id }
      }
      return { verdict: 'ask', ...question(call) }
    },
    question,
    grant: grantOf,
  }
}

/** A person may overlook a part of a call with hidden characters, so it is critical whatever its tool is. */
const riskOf = ({ tool, arguments: args }: GatedCall): Risk => (hidesCharacters(args) ? 'critical' : tool.risk)

const question = (call: GatedCall): Question => {
  const { agent, tool, now } = call
  const risk = riskOf(call)
  return {
    policyVersion: policyVersion(agent.approval, tool),
    risk,
    answerableBy: risk === 'critical' ? 'operator' : agent.approval.by,
    expiresAt: now + agent.approval.expiresSeconds * 1_000,
    title: `Call ${visibleText(tool.name)}`,
    description: shownArguments(call.arguments),
  }
}

function covers(grant: Grant, { agent, tool, sessionId, now, arguments: args }: GatedCall, paths: PathSense): boolean {
  if (grant.agent !== agent.name || grant.tool !== tool.name) return false
  if (grant.policyVersion !== policyVersion(agent.approval, tool)) return false
  if (grant.sessionId !== null && grant.sessionId !== sessionId) return false
  if (grant.expiresAt !== null && grant.expiresAt <= now) return false
  try {
    return fits(grant.where, args, paths, 'narrow')
  } catch {
    // A grant that cannot be read allows nothing. Nor does any grant allow a path that cannot be resolved.
    return false
  }
}
