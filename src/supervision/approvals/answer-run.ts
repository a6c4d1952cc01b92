// A run of ours waits for the approval: the answer starts its continuation, in the same commit.

import { ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import type { Waits } from '../../engine/ports/waits.ts'
import { callDigest } from '../../json/digest.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import type { AskAgain } from './ask-again.ts'
import { checkOwnEdit } from './check-edit.ts'
import type { Answerer } from './decide.ts'

interface AnswerRunDeps {
  askAgain: AskAgain
  /** The engine's. */
  waits: Pick<Waits, 'now' | 'answer' | 'expire'>
  /** Ends the search for tools when the server stops. */
  signal: AbortSignal
}

export function createAnswerRun({ askAgain, waits, signal }: AnswerRunDeps): Answerer {
  const asked = (approval: Approval) => ({ approval, at: waits.now(), elsewhere: null })
  return {
    ...runSteps(askAgain, signal),

    async answer(approval, { correlationId }, steps) {
      const now = asked(approval)
      await steps.refuse(now)
      const accepted = await waits.answer(approval, await steps.prepare(now), correlationId)
      const [first] = accepted?.answered ?? []
      if (accepted === null || first?.applied !== true || first.wait?.wait !== 'approval') return null
      // A yes that is not enough starts nothing.
      return { approval: first.wait, run: first.wait.status === 'pending' ? null : accepted.run }
    },

    async check(approval, edit, refuseLate) {
      const now = asked(approval)
      await refuseLate(now)
      return checkOwnEdit(askAgain, approval, edit, { at: now.at, signal })
    },

    expire: waits.expire,
  }
}

/** The steps of a decision that need no engine. */
export const runSteps = (askAgain: AskAgain, signal: AbortSignal): Pick<Answerer, 'refuseChanged' | 'edit'> => ({
  refuseChanged: ({ approval, at }, decision) => askAgain.refuseChanged(approval, decision, at, signal),

  async edit({ approval }, { arguments: edited }) {
    const { risk } = approval
    if (edited === undefined) return { patch: {}, replaced: null, risk }
    const args = await checkEdited(askAgain, approval, edited, signal)
    const digest = callDigest({ ...approval, arguments: args })
    return { patch: {}, replaced: digest === approval.digest ? null : { arguments: args, digest }, risk }
  },
})

async function checkEdited(
  askAgain: AskAgain,
  approval: Approval,
  edited: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const tool = await askAgain.findTool(approval, signal)
  if (tool === null) {
    throw new ServerError(
      'invalid_request',
      `The tool ${approval.tool} is not available now, so its arguments cannot be edited.`,
    )
  }
  const checked = jsonCheckOf(tool.parameters).check(edited)
  if (checked.ok) return { ...Object(checked.value) }
  const message = `The edited arguments do not fit ${approval.tool}: ${checked.problems.join('; ')}.`
  throw new ServerError('invalid_request', message, {
    details: { approval_id: approval.id },
    problems: checked.problems.map((detail) => ({ pointer: '/arguments', detail })),
  })
}
