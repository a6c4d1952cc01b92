import { z } from 'zod'
import type { Checkpoint } from '../../../client/client.ts'
import { ClientError, type Problem } from '../../../client/client-error.ts'
import { shortIds } from '../../../domain/text/id-prefix.ts'
import { CheckpointSchema } from '../../../protocols/manage/supervision/checkpoint-schema.ts'
import { failure } from '../../cli-error.ts'
import { styleFor } from '../../terminal/style.ts'
import { confirm, hasTerminal } from '../../terminal/terminal-prompt.ts'
import { exactValue, localTime, localZone, terminalLine, textTable } from '../../terminal/terminal-text.ts'
import type { CtlContext } from './ctl-server.ts'
import { allCheckpoints, findCheckpoint, findSession, understood } from './records.ts'

export async function checkpoint(
  context: CtlContext,
  words: string[],
  { session, contents }: { session?: string; contents?: boolean },
): Promise<void> {
  const label = words.join(' ')
  const { session_id: id } = await findSession(context.server, session)
  const answer = await context.server.post(`/sessions/${id}/checkpoint`, {
    label: label === '' ? undefined : label,
    // Without the contents a checkpoint can only be compared, so keeping them is what people expect.
    contents: contents !== false,
  })
  const { checkpoint_id } = understood(CheckpointSchema.pick({ checkpoint_id: true }), answer)
  context.say(answer, `Checkpoint ${terminalLine(checkpoint_id, 64)}`)
}

export async function checkpoints(context: CtlContext, { session }: { session?: string }): Promise<void> {
  const meant = session === undefined ? undefined : (await findSession(context.server, session)).session_id
  const found = await allCheckpoints(context.server, meant)
  const ids = shortIds(found.map((one) => one.checkpoint_id))
  const row = (one: Checkpoint): string[] => [
    ids.get(one.checkpoint_id) ?? '',
    localTime(one.created_at),
    terminalLine(one.label ?? '', 40),
    terminalLine(one.workspace_root, 200),
  ]
  const table = textTable(['ID', `TAKEN (${localZone()})`, 'LABEL', 'WORKSPACE'], found.map(row)).trimEnd()
  context.say(
    { checkpoints: found },
    found.length === 0 ? `There are no checkpoints. To take one: ${context.typed('checkpoint')}` : table,
  )
}

const files = z.array(z.string()).default([])
const LossSchema = z.looseObject({
  digest: z.string(),
  /** The whole number of each list, whose names may be cut. */
  counts: z.record(z.string(), z.number()).default({}),
  modified: files,
  deleted: files,
  added: files,
  unknown: files,
  cannot_restore: files,
  lost_for_good: files,
  protected: files,
})

/** Shows what restoring would lose, asks, and restores. */
export async function restore(
  context: CtlContext,
  id: string,
  { confirm: given }: { confirm?: string },
): Promise<void> {
  const { server, io, json } = context
  const { checkpoint_id } = await findCheckpoint(server, id)
  const path = `/checkpoints/${checkpoint_id}/restore`
  let digest = given
  if (digest === undefined) {
    const loss = await lossOf(() => server.post(path))
    if (loss === null) throw failure('The server restored it without asking. Look at the files.')
    if (!hasTerminal(io) || json) {
      context.say(loss, lossLines(loss, context).join('\n'))
      throw failure('Nothing is restored yet. A program confirms with --confirm <digest>.')
    }
    io.stdout.write(`${lossLines(loss, context).join('\n')}\n`)
    await confirm('Restore these files?', io)
    digest = loss.digest
  }
  let answer: unknown = null
  const changed = await lossOf(async () => {
    answer = await server.post(path, { confirm: digest })
  })
  if (changed !== null) {
    throw failure('The files have changed since you looked. Nothing is restored; look again.')
  }
  const { undo } = understood(z.object({ undo: CheckpointSchema.pick({ checkpoint_id: true }) }), answer)
  const back = `To undo this: ${context.typed(`restore ${terminalLine(undo.checkpoint_id, 64)}`)}`
  context.say(answer, `Restored. The old session is terminated, and a new one goes on from here. ${back}`)
}

type Loss = z.infer<typeof LossSchema>

/** Null: it was done. A refusal that asks for a confirmation comes back as what would be lost. */
async function lossOf(work: () => Promise<unknown>): Promise<Loss | null> {
  try {
    await work()
    return null
  } catch (error) {
    const problem: Problem | null = error instanceof ClientError && error.status === 409 ? error.problem : null
    if (problem === null || typeof problem.digest !== 'string') throw error
    return understood(LossSchema, problem)
  }
}

const PARTS = [
  ['modified', 'M', 'yellow', 'changed: they get their old contents back'],
  ['added', '-', 'red', 'new: they are removed'],
  ['deleted', '+', 'green', 'deleted: they come back'],
  ['protected', '!', 'red', 'of these are protected: they can change what programs do here'],
  ['lost_for_good', '!', 'red', 'of these are too large to be kept, so this cannot be undone'],
  ['cannot_restore', '=', null, 'stay as they are, because the checkpoint has not kept them'],
  ['unknown', '=', null, 'stay as they are, because they cannot be read'],
] as const

function lossLines(loss: Loss, { io }: CtlContext): string[] {
  const style = styleFor(io.stdout, io.env)
  const lines = PARTS.flatMap(([list, sign, colour, words]) => {
    const paths = loss[list]
    const count = loss.counts[list] ?? paths.length
    if (count === 0) return []
    const mark = colour === null ? sign : style[colour](sign)
    const rest = count > paths.length ? [`  … ${count - paths.length} more`] : []
    return [`${count} ${words}:`, ...paths.map((path) => `  ${mark} ${exactValue(path)}`), ...rest]
  })
  return lines.length === 0 ? ['The files are as they were then. Nothing is lost.'] : lines
}
