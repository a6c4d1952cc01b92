import { explainPolicy } from '../../../supervision/workspace-policy/explain-policy.ts'
import { protectedByPath } from '../../../supervision/workspace-policy/judge-request.ts'
import { readPolicy } from '../../../supervision/workspace-policy/read-policy.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { readAllowlist } from '../policy/read-policy-argument.ts'
import { approve, findApproval } from './decide.ts'
import { allWaiting } from './find-by-prefix.ts'
import { readRecord, type ShownApproval, type ShownRecord } from './records.ts'
import type { CtlContext } from './run-ctl.ts'
import { agentOf, titleOf } from './show-record.ts'

/** The policy files that wait for an operator's yes, with what each would allow. With an id: only that one. */
export async function policy(
  id: string | undefined,
  { approve: yes }: { approve?: boolean },
  context: CtlContext,
): Promise<void> {
  if (id === undefined && yes === true) {
    throw new CliError(exitCodes.usage.code, 'Say which policy to approve: quarterdeck ctl policy <id> --approve')
  }
  const found = id === undefined ? await waitingPolicies(context) : [await findPolicy(id, context)]
  if (found.length === 0) return context.say([], 'No policy waits for a yes.')
  if (!context.json) for (const one of found) context.io.stdout.write(`${policyLines(one, context).join('\n')}\n`)
  if (yes === true) for (const one of found) await approve(one.approval_id, {}, context)
  else if (context.json) context.say(found, '')
}

async function waitingPolicies({ server }: CtlContext): Promise<ShownApproval[]> {
  const { items } = await allWaiting(server)
  const policies = items.filter((item) => item.kind === 'approval' && item.record.kind === 'policy')
  return await Promise.all(policies.map(({ id }) => withText(server, id)))
}

async function findPolicy(id: string, context: CtlContext): Promise<ShownApproval> {
  const approval = await findApproval(id, context)
  if (approval.kind === 'policy') return await withText(context.server, approval.approval_id)
  throw new CliError(exitCodes.usage.code, `This is not a policy but a ${terminalLine(approval.kind, 20)}.`)
}

const withText = async (server: CtlContext['server'], id: string): Promise<ShownApproval> =>
  readRecord.approval(await server.get(`/approvals/${id}?include=content`)).record

function policyLines(approval: ShownApproval, { io }: CtlContext): string[] {
  const { approval_id, content } = approval
  const item: ShownRecord = { kind: 'approval', id: approval_id, record: approval }
  const head = [`policy  ${approval_id}  ${agentOf(item)}`, titleOf(item)]
  if (typeof content !== 'string') return head
  const read = readPolicy(content)
  if (read.policy === null) return [...head, '  It has mistakes, so it allows nothing.']
  const limits = { allowlist: readAllowlist(undefined, io), protectedBecause: protectedByPath }
  const explained = explainPolicy(read.policy, read.settings, limits).flatMap(({ means, note }) => [
    `  ${terminalLine(means, 1_000)}`,
    ...(note === null ? [] : [`    note: ${terminalLine(note, 1_000)}`]),
  ])
  return [...head, ...(explained.length === 0 ? ['  It says nothing, so every request needs an approval.'] : explained)]
}
