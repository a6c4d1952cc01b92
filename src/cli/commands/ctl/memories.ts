// What agents keep about users between sessions, and the end of all that is kept under the name of a user.

import type { Memory } from '../../../client/wire.ts'
import { ForgottenSchema, MemoryListSchema } from '../../../protocols/manage/memories/schema.ts'
import { ErasedUserSchema } from '../../../protocols/manage/users/schema.ts'
import { failure, usageError } from '../../cli-error.ts'
import { confirm, hasTerminal } from '../../terminal/terminal-prompt.ts'
import { counted, localTime, localZone, terminalLine, textTable } from '../../terminal/terminal-text.ts'
import type { CtlContext } from './ctl-server.ts'
import { NothingFound, quoted, understood } from './records.ts'

interface OwnerFlags {
  owner?: string
  agent?: string
}

const queryOf = ({ owner, agent }: OwnerFlags): string => {
  const query = new URLSearchParams({
    ...(owner === undefined ? {} : { owner }),
    ...(agent === undefined ? {} : { agent }),
  })
  return query.size === 0 ? '' : `?${query}`
}

async function allMemories({ server }: CtlContext, flags: OwnerFlags) {
  return understood(MemoryListSchema, await server.get(`/memories${queryOf(flags)}`))
}

export async function memories(context: CtlContext, { owner = '*', agent }: OwnerFlags): Promise<void> {
  const found = await allMemories(context, { owner, ...(agent === undefined ? {} : { agent }) })
  const rows = found.memories.map((one) => [
    one.memory_id,
    terminalLine(one.owner, 40),
    terminalLine(one.agent, 40),
    terminalLine(one.text, 200),
    localTime(one.corrected_at ?? one.created_at),
  ])
  const table = textTable(['ID', 'USER', 'AGENT', 'WHAT', `SINCE (${localZone()})`], rows).trimEnd()
  const more = found.complete ? '' : '\nThese are not all. Name a user: --owner <name>'
  context.say(found, rows.length === 0 ? 'No agent keeps anything.' : `${table}${more}`)
}

/** One fact by its id, or with `--all` everything about a user. */
export async function forget(
  context: CtlContext,
  id: string | undefined,
  { all, ...flags }: OwnerFlags & { all?: boolean },
): Promise<void> {
  if ((id === undefined) !== (all === true)) throw usageError('Give the id of a fact, or --all with --owner <name>.')
  if (id === undefined) {
    if (flags.owner === undefined) throw usageError('--all needs --owner <name>: the user about whom all is forgotten.')
    const answer = understood(ForgottenSchema, await context.server.delete(`/memories${queryOf(flags)}`))
    return context.say(
      answer,
      `Forgotten: ${counted(answer.forgotten, 'fact')} about ${terminalLine(flags.owner, 40)}.`,
    )
  }
  const known = (await allMemories(context, { ...flags, owner: flags.owner ?? '*' })).memories
  const found = known.find(({ memory_id }: Memory) => memory_id === id)
  if (found === undefined) {
    throw new NothingFound(`No fact has the id ${quoted(id)}.`, ['To list them: quarterdeck ctl memories'])
  }
  await context.server.delete(`/memories/${encodeURIComponent(id)}${queryOf({ owner: found.owner })}`)
  context.say(found, `Forgotten: ${terminalLine(found.text, 200)}`)
}

/** Throws `CliError` if something is left, after the answer is printed. */
export async function eraseUser(context: CtlContext, name: string, { yes }: { yes?: boolean }): Promise<void> {
  const shown = terminalLine(name, 200)
  if (yes !== true && hasTerminal(context.io) && !context.json) {
    context.io.stdout.write(`All that is kept under the name ${shown}. Nobody can bring it back.\n`)
    await confirm('Erase it?', context.io)
  }
  const answer = understood(ErasedUserSchema, await context.server.delete(`/users/${encodeURIComponent(name)}`))
  const { user: _, left, ...counts } = answer
  const words = Object.entries(counts).map(([what, count]) => `${what.replace('_', ' ')} ${count}`)
  context.say(answer, `Erased of ${shown}: ${words.join(', ')}.`)
  if (left.length === 0) return
  const rest = left.map(({ what, id, why }) => terminalLine(`${what.replace('_', ' ')} ${id}: ${why}`, 300))
  throw failure(`Something of ${shown} is left. Do what follows, then run this again.`, rest)
}
