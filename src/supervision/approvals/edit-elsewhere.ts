// What an operator writes in place of what an agent elsewhere asked for.

import { isAtLeast } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import type { SupervisedApproval } from '../../domain/records/record.ts'
import type { Quorum, Yes } from '../../domain/supervision/quorum.ts'
import { agentsProposalId, type Proposal } from '../../domain/supervision/supervision.ts'
import { hidesCharacters, visibleText } from '../../domain/text/visible-text.ts'
import { callDigest } from '../../json/digest.ts'
import type { Store } from '../../store/store.ts'
import { changeDigest, editedChange, summaryOf } from '../diffs/propose-change.ts'
import type { SessionNow } from '../sessions/take-step.ts'
import { type EditCheck, noProblem } from './check-edit.ts'
import { shownArguments } from './shown-arguments.ts'

export interface ChangeEditsDeps {
  store: Pick<Store, 'supervised'>
  /** Real paths of files and folders that this server reads. */
  serverPaths: readonly string[]
  /** How many people have to say yes. The first no closes. */
  quorum: Quorum
}

export function createChangeEdits({ store, serverPaths, quorum }: ChangeEditsDeps) {
  /** The change that the record asks for. Throws `approval_not_found` if its text is gone. */
  async function proposalOf({ id }: SupervisedApproval): Promise<Proposal> {
    const proposal = await store.supervised.proposal(id)
    if (proposal !== null) return proposal
    throw new ServerError(
      'approval_not_found',
      `The text of approval ${id} is gone. Reject it, and let the agent ask again.`,
    )
  }

  /** `after` is the text that the operator's is compared with. */
  async function propose(now: SessionNow, record: SupervisedApproval, after: Proposal['after'], content: string) {
    const old = record.supervised.change
    if (old === null) throw new Error('A diff needs its change.')
    const { path, kind } = old
    const stored = { path, kind, beforeHash: record.beforeHash ?? '', afterHash: record.afterHash ?? '', after }
    const { workspaceRoot } = now.session.supervision
    const { change, difference } = await editedChange(stored, { diff: content, workspaceRoot, serverPaths })
    const risk = isAtLeast(record.risk, change.risk) ? record.risk : change.risk
    return { change, difference, risk, digest: changeDigest(change) }
  }

  return {
    proposalOf,

    /** With the operator's text in its place. Null: it is the one that the record has. */
    async edit(now: SessionNow, record: SupervisedApproval, content: string) {
      const { diff, after } = await proposalOf(record)
      const { change, risk, digest } = await propose(now, record, after, content)
      if (digest === record.digest) return null
      const needed = quorum[risk] > 1 ? quorum[risk] : undefined
      const noYes: Yes[] = []
      const patch = present({
        digest,
        beforeHash: change.beforeHash,
        afterHash: change.afterHash,
        risk,
        quorum: needed,
        // A yes was for the text as it was.
        decisions: needed === undefined ? undefined : noYes,
        supervised: { ...record.supervised, change: summaryOf(change), isEdited: true },
      })
      // The agent's own text is kept with the first edit.
      const agents: Proposal[] = record.supervised.isEdited
        ? []
        : [{ approvalId: agentsProposalId(record.id), diff, after }]
      const proposals = [...agents, { approvalId: record.id, diff: change.diff, after: change.after }]
      return { patch, diff: change.diff, proposals }
    },

    /** What would come of it: against the file, and against what the agent proposed. */
    async check(now: SessionNow, record: SupervisedApproval, content: string): Promise<EditCheck> {
      const { after } = (await store.supervised.proposal(agentsProposalId(record.id))) ?? (await proposalOf(record))
      const { change, difference, risk, digest } = await propose(now, record, after, content)
      const summary = summaryOf(change)
      return {
        ...noProblem({ ...record, risk, supervised: { ...record.supervised, change: summary } }),
        change: { ...summary, digest, diff: change.diff, difference },
      }
    },
  }
}

const AGENT_ASKED = '\nThe agent asked for this:\n'

/**
 * With other arguments it is another question: the yeses for the old one do not count. Whoever else has to say yes reads what would run
 * now, and no diff of what would have run.
 */
export function withArguments(
  record: SupervisedApproval,
  edited: Record<string, unknown>,
): Partial<SupervisedApproval> {
  const digest = callDigest({ ...record, arguments: edited })
  if (digest === record.digest) return {}
  const tool = visibleText(record.tool)
  const asked = record.description.split(AGENT_ASKED).at(-1)
  return {
    digest,
    editedArguments: JSON.stringify(edited),
    decisions: [],
    title: `Call ${tool} with edited arguments`,
    description: `Tool: ${tool}\n${shownArguments(edited)}${AGENT_ASKED}${asked}`,
    risk: hidesCharacters(edited) ? 'critical' : record.risk,
    // What was said of the agent's call is not true of this one.
    riskWhy: 'runs what an operator wrote in its place',
    action: null,
    matches: [],
    beforeHash: null,
    afterHash: null,
    supervised: { ...record.supervised, change: null, isEdited: true },
  }
}
