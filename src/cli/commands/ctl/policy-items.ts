import { explainPolicy } from '../../../supervision/workspace-policy/explain-policy.ts'
import { protectedByPath } from '../../../supervision/workspace-policy/judge-request.ts'
import { readPolicy } from '../../../supervision/workspace-policy/read-policy.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { agentOf, folderOf, titleOf } from '../../show-record.ts'
import { terminalLine } from '../../terminal/terminal-text.ts'
import { readAllowlist } from '../policy/read-policy-argument.ts'
import { approve } from './decide.ts'
import { allWaiting, findRecord } from './find-by-prefix.ts'
import { readRecord, recordPath, type ShownRecord } from './records.ts'
import type { CtlContext } from './run-ctl.ts'

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
  if (yes === true) for (const { view } of found) await approve(view.id, {}, context)
  else if (context.json)
    context.say(
      found.map(({ sent }) => sent),
      '',
    )
}

async function waitingPolicies({ server }: CtlContext): Promise<ShownRecord[]> {
  const { items } = await allWaiting(server)
  return await Promise.all(items.filter(isPolicy).map((one) => withText(server, one)))
}

async function findPolicy(id: string, { server }: CtlContext): Promise<ShownRecord> {
  const found = await findRecord(server, id)
  if (isPolicy(found)) return await withText(server, found)
  throw new CliError(exitCodes.usage.code, `This is not a policy but “${found.view.label}”.`)
}

const isPolicy = ({ view }: ShownRecord): boolean => view.mark === 'policy'

const withText = async (server: CtlContext['server'], { view }: ShownRecord): Promise<ShownRecord> =>
  readRecord(await server.get(`${recordPath(view)}?include=content`))

function policyLines({ view, content }: ShownRecord, { io }: CtlContext): string[] {
  const head = [`${view.label}  ${view.id}  ${agentOf(view)}  ${folderOf(view)}`, titleOf(view)]
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
